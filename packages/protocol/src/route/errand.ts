import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/errand.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const reference = z.object({ reference: z.string().min(1).max(128) });
const idempotency = z.object({ 'idempotency-key': z.string().min(8).max(128).optional() });

/** An errand is started like any other agent, with the mode `errand`. */
export const errandRoutes = {
  listErrands: createRoute({
    method: 'get',
    path: '/api/errands',
    request: { query: z.object({ all: z.enum(['true', 'false']).optional() }) },
    responses: answers('The errands, newest first.', view.errandListSchema),
  }),
  sendErrand: createRoute({
    method: 'post',
    path: '/api/errands/{reference}/send',
    request: {
      params: reference,
      headers: idempotency,
      body: { content: json(view.errandSendSchema), required: true },
    },
    responses: answers('The errand, told.', view.errandSentSchema),
  }),
  diffErrand: createRoute({
    method: 'get',
    path: '/api/errands/{reference}/diff',
    request: { params: reference },
    responses: answers('What it changed since its base, committed or not.', view.errandDiffSchema),
  }),
  mergeErrand: createRoute({
    method: 'post',
    path: '/api/errands/{reference}/merge',
    request: { params: reference, body: { content: json(view.errandMergeSchema), required: true } },
    responses: answers('Its work is in the branch, and the errand has ended.', view.errandMergedSchema),
  }),
  abandonErrand: createRoute({
    method: 'post',
    path: '/api/errands/{reference}/abandon',
    request: { params: reference },
    responses: answers(
      'The errand has ended; its worktree is in the trash, its branch stays.',
      view.errandAbandonedSchema,
    ),
  }),
} as const;
