import { createRoute } from '@hono/zod-openapi';
import type * as z from 'zod';
import { errorViewSchema, trustAnswerSchema } from '../view.ts';
import * as view from '../view/trust.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});

/** A person's trust in a repository's files. */
export const trustRoutes = {
  trustList: createRoute({
    method: 'get',
    path: '/api/trust',
    request: { query: view.trustQuerySchema },
    responses: answers(
      'The definition and settings files that need trust, and what they would do.',
      view.trustListSchema,
    ),
  }),
  trust: createRoute({
    method: 'post',
    path: '/api/trust',
    request: { body: { content: json(view.trustBodySchema), required: true } },
    responses: answers('The files of the repository that are trusted as they are now.', trustAnswerSchema),
  }),
} as const;
