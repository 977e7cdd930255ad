import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import { rosterViewSchema, selfBodySchema, selfViewSchema } from './view.ts';

/** Processes that Pawl did not start. */
export const rosterRoutes = {
  roster: defineRoute({
    access: forAgents('see the agents of its project', 'S0-05'),
    method: 'get',
    path: '/api/roster',
    request: { query: z.object({ path: z.string().min(1).max(4096).optional() }) },
    responses: answers(
      'The agents at work in the checkout of a project: the caller’s own, or for a person the one at this path. Those with worktrees of their own are not among them.',
      rosterViewSchema,
    ),
  }),
  rosterSelf: defineRoute({
    access: forPeople('request the token of a process', '7.23'),
    method: 'post',
    path: '/api/roster/self',
    request: { body: body(selfBodySchema) },
    responses: answers(
      'The agent that stands for a process which Pawl did not start, and the token with which it uses its mailbox. For people only.',
      selfViewSchema,
    ),
  }),
} as const;
