import { createRoute } from '@hono/zod-openapi';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/run.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});

/** Delegations and their results. */
export const runRoutes = {
  delegate: createRoute({
    method: 'post',
    path: '/api/delegations',
    request: {
      headers: z.object({ 'idempotency-key': z.string().min(8).max(128).optional() }),
      body: { content: json(view.delegateSchema), required: true },
    },
    responses: answers(
      'The agent that was delegated to, and its run, durable before this answer. The same key gives the same ones.',
      view.delegatedSchema,
    ),
  }),
  runResult: createRoute({
    method: 'get',
    path: '/api/runs/{run}',
    request: {
      params: z.object({ run: z.string().min(1).max(64) }),
      query: z.object({ waitMs: z.coerce.number().int().nonnegative().max(limits.resultWaitMs).optional() }),
    },
    responses: answers(
      'A run and its result: at once when it has ended, else after `waitMs` at the most. An agent may ask for its own runs and those of its children.',
      view.runResultSchema,
    ),
  }),
} as const;
