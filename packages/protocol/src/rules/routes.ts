import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

/** Rules that decide about requests before a person is asked. */
export const ruleRoutes = {
  listRules: defineRoute({
    access: forAgents('list the rules that apply to it', '7.16'),
    method: 'get',
    path: '/api/rules',
    request: { query: z.object({ path: z.string().max(4_096).optional() }) },
    responses: answers(
      'The rules, with those in the files of the project at a path; to an agent, those for itself.',
      view.ruleListSchema,
    ),
  }),
  addRule: defineRoute({
    access: forPeople('add a rule', '7.16'),
    method: 'post',
    path: '/api/rules',
    request: { body: body(view.addRuleSchema) },
    responses: answers('The rule; an equal one that exists is returned as it is.', view.ruleAnswerSchema),
  }),
  revokeRule: defineRoute({
    access: forPeople('revoke a rule', '7.16'),
    method: 'post',
    path: '/api/rules/{rule}/revoke',
    request: { params: z.object({ rule: z.string().min(1).max(64) }) },
    responses: answers('The rule, which applies no more.', view.ruleAnswerSchema),
  }),
} as const;
