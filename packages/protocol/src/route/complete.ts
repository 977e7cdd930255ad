import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/complete.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });

export const completeRoutes = {
  completeAgent: createRoute({
    method: 'post',
    path: '/api/agents/{reference}/complete',
    request: {
      params: z.object({ reference: z.string().min(1).max(128) }),
      body: { content: json(view.completeSchema), required: true },
    },
    responses: {
      200: {
        description: 'The agent, which ends as soon as its process has left. `@current` is the caller itself.',
        content: json(view.completeAnswerSchema),
      },
      default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
    },
  }),
} as const;
