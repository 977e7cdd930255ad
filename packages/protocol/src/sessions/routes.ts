import * as z from 'zod';
import { forAgents, forPeople } from '../access.ts';
import { answers, answersOrStream, defineRoute, reference, wholeNumber } from '../define-route.ts';
import { outputPageSchema, providerListSchema, providerQuerySchema, topSchema } from './view.ts';

/** Sessions: their output, their resource use, the CLIs that they run. */
export const sessionRoutes = {
  output: defineRoute({
    access: forAgents('read its own output', '7.23'),
    method: 'get',
    path: '/api/agents/{reference}/output',
    request: {
      params: reference,
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.max(1000).optional(),
        tail: wholeNumber.max(100_000).optional(),
        format: z.enum(['raw', 'events']).optional(),
      }),
    },
    responses: answersOrStream(
      'A page, or with `Accept: text/event-stream` the output as it comes; `id` is the chunk id.',
      outputPageSchema,
    ),
  }),
  top: defineRoute({
    access: forPeople('see all agents’ processes', '7.23'),
    method: 'get',
    path: '/api/top',
    responses: answers('What runs now, and what it costs the machine.', topSchema),
  }),
  listProviders: defineRoute({
    access: forAgents('list providers', '7.23'),
    method: 'get',
    path: '/api/providers',
    request: { query: providerQuerySchema },
    responses: answers(
      'The coding CLIs that Pawl knows: which are installed here, and what each can do.',
      providerListSchema,
    ),
  }),
} as const;
