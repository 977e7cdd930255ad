import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/prompt.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});
const reference = z.object({ reference: z.string().min(1).max(128) });

/** Prompts and input files of agents. */
export const promptRoutes = {
  agentPrompt: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/prompt',
    request: { params: reference, query: view.promptQuerySchema },
    responses: answers('What the agent was told at the beginning of a session.', view.promptViewSchema),
  }),
  agentInputs: createRoute({
    method: 'get',
    path: '/api/agents/{reference}/inputs',
    request: { params: reference },
    responses: answers('The files that the agent was given.', view.inputViewSchema),
  }),
} as const;
