import { createRoute } from '@hono/zod-openapi';
import { errorViewSchema } from '../view.ts';
import { providerListSchema, providerQuerySchema } from '../view/provider.ts';

/** The routes about coding CLIs. */
export const providerRoutes = {
  listProviders: createRoute({
    method: 'get',
    path: '/api/providers',
    request: { query: providerQuerySchema },
    responses: {
      200: {
        description: 'The coding CLIs that Pawl knows: which are installed here, and what each can do.',
        content: { 'application/json': { schema: providerListSchema } },
      },
      default: {
        description: 'It did not work; the body says why and what to do.',
        content: { 'application/json': { schema: errorViewSchema } },
      },
    },
  }),
} as const;
