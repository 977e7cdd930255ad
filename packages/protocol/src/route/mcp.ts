import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import { whoamiSchema } from '../view/whoami.ts';

const failure = {
  description: 'It did not work; the body says why and what to do.',
  content: { 'application/json': { schema: errorViewSchema } },
};

/** The caller's identity, and the verbs as MCP tools. */
export const mcpRoutes = {
  whoami: createRoute({
    method: 'get',
    path: '/api/whoami',
    responses: {
      200: { description: 'Whom the token stands for.', content: { 'application/json': { schema: whoamiSchema } } },
      default: failure,
    },
  }),
  mcp: createRoute({
    method: 'post',
    path: '/mcp',
    request: { body: { content: { 'application/json': { schema: z.unknown() } }, required: true } },
    responses: {
      200: {
        description:
          'One message of the Model Context Protocol, without a session: the answer, or a stream that ends with it.',
        content: { 'application/json': { schema: z.unknown() }, 'text/event-stream': { schema: z.string() } },
      },
      202: { description: 'A notification was taken.' },
      default: failure,
    },
  }),
} as const;
