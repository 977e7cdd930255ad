import { nameSchema } from '@pawl/schema/id';
import * as z from 'zod';
import { forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

const account = z.object({ account: z.string().min(1).max(64) });

/** Accounts; for people only. */
export const accountRoutes = {
  listAccounts: defineRoute({
    access: forPeople('list accounts', '7.22'),
    method: 'get',
    path: '/api/accounts',
    request: { query: z.object({ provider: nameSchema.optional() }) },
    responses: answers('The accounts, without their secrets.', view.accountListSchema),
  }),
  addAccount: defineRoute({
    access: forPeople('add an account', '7.22'),
    method: 'post',
    path: '/api/accounts',
    request: { body: body(view.addAccountSchema) },
    responses: answers('The account; its secret is on disk and nowhere else.', view.accountAddedSchema),
  }),
  removeAccount: defineRoute({
    access: forPeople('remove an account', '7.22'),
    method: 'post',
    path: '/api/accounts/{account}/remove',
    request: { params: account },
    responses: answers('The account that was; its secret is deleted.', view.accountAnswerSchema),
  }),
  useAccount: defineRoute({
    access: forPeople('choose an account', '7.22'),
    method: 'post',
    path: '/api/accounts/{account}/use',
    request: { params: account, body: body(view.useAccountSchema) },
    responses: answers('The account that new agents of its provider use.', view.accountAnswerSchema),
  }),
  testAccount: defineRoute({
    access: forPeople('test an account', '7.22'),
    method: 'post',
    path: '/api/accounts/{account}/test',
    request: { params: account, body: body(view.testAccountSchema) },
    responses: answers('What the provider’s own CLI said with this account.', view.accountTestSchema),
  }),
  testModel: defineRoute({
    access: forPeople('test a model', '7.22'),
    method: 'post',
    path: '/api/models/test',
    request: { body: body(view.testModelSchema) },
    responses: answers('What the model said, or why it did not.', view.modelTestSchema),
  }),
} as const;
