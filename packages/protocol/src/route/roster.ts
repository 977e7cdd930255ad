import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import { rosterViewSchema, selfBodySchema, selfViewSchema } from '../view/roster.ts';

/** Processes that Pawl did not start. */
export const rosterRoutes = {
  roster: createRoute({
    method: 'get',
    path: '/api/roster',
    request: { query: z.object({ path: z.string().min(1).max(4096).optional() }) },
    responses: {
      200: {
        description:
          'The agents at work in the checkout of a project: the caller’s own, or for a person the one at this path. Those with worktrees of their own are not among them.',
        content: { 'application/json': { schema: rosterViewSchema } },
      },
      default: {
        description: 'It did not work; the body says why and what to do.',
        content: { 'application/json': { schema: errorViewSchema } },
      },
    },
  }),
  rosterSelf: createRoute({
    method: 'post',
    path: '/api/roster/self',
    request: { body: { required: true, content: { 'application/json': { schema: selfBodySchema } } } },
    responses: {
      200: {
        description:
          'The agent that stands for a process which Pawl did not start, and the token with which it uses its mailbox. For people only.',
        content: { 'application/json': { schema: selfViewSchema } },
      },
      default: {
        description: 'It did not work; the body says why and what to do.',
        content: { 'application/json': { schema: errorViewSchema } },
      },
    },
  }),
} as const;
