import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { forAgents } from '../../access.ts';
import { answers, body, defineRoute, reference, wholeNumber } from '../../define-route.ts';
import * as view from './view.ts';

/** A verb that adds one note to an agent's history. */
function noteRoute<Verb extends string, Body extends z.ZodType>(
  access: Access,
  verb: Verb,
  given: Body,
  description: string,
) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/agents/{reference}/${verb}`,
    request: { params: reference, body: body(given) },
    responses: answers(description, view.noteAnswerSchema),
  });
}

/** An agent’s history. */
export const historyRoutes = {
  history: defineRoute({
    access: forAgents('read its own history', '7.23'),
    method: 'get',
    path: '/api/agents/{reference}/history',
    request: {
      params: reference,
      query: z.object({
        after: wholeNumber.optional(),
        limit: wholeNumber.min(1).max(1000).optional(),
        /** Includes cleared, rewound and summarised messages, marked as such. */
        all: z.enum(['true', 'false']).optional(),
      }),
    },
    responses: answers('A page of the history, inherited and own.', view.historyPageSchema),
  }),
  clearHistory: noteRoute(
    forAgents('clear its own history', '7.23'),
    'clear',
    view.emptySchema,
    'The agent forgets everything up to here; it stays on record.',
  ),
  markHistory: noteRoute(
    forAgents('mark its own history', '7.23'),
    'mark',
    view.markSchema,
    'A place to come back to.',
  ),
  rewindHistory: noteRoute(
    forAgents('rewind its own history', '7.23'),
    'rewind',
    view.markSchema,
    'Back at a mark; what came after it stays on record.',
  ),
} as const;
