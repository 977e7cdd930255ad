import { createRoute } from '@hono/zod-openapi';
import { nameSchema } from '@pawl/schema/id';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/account.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const account = z.object({ account: z.string().min(1).max(64) });

/** For people only. */
export const accountRoutes = {
  listAccounts: createRoute({
    method: 'get',
    path: '/api/accounts',
    request: { query: z.object({ provider: nameSchema.optional() }) },
    responses: answers('The accounts, without their secrets.', view.accountListSchema),
  }),
  addAccount: createRoute({
    method: 'post',
    path: '/api/accounts',
    request: { body: { content: json(view.addAccountSchema), required: true } },
    responses: answers('The account; its secret is on disk and nowhere else.', view.accountAddedSchema),
  }),
  removeAccount: createRoute({
    method: 'post',
    path: '/api/accounts/{account}/remove',
    request: { params: account },
    responses: answers('The account that was; its secret is deleted.', view.accountAnswerSchema),
  }),
  useAccount: createRoute({
    method: 'post',
    path: '/api/accounts/{account}/use',
    request: { params: account, body: { content: json(view.useAccountSchema), required: true } },
    responses: answers('The account that new agents of its provider use.', view.accountAnswerSchema),
  }),
  testAccount: createRoute({
    method: 'post',
    path: '/api/accounts/{account}/test',
    request: { params: account, body: { content: json(view.testAccountSchema), required: true } },
    responses: answers('What the provider’s own CLI said with this account.', view.accountTestSchema),
  }),
} as const;
