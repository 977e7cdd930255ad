import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { finalize, forAgents, forMains } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './proposal-view.ts';

const proposal = z.object({ proposal: z.string().min(1).max(128) });

/** A decision about one proposal. */
function verbRoute<Verb extends string, Body extends z.ZodType, A extends Access>(
  access: A,
  verb: Verb,
  given: Body,
  description: string,
) {
  return defineRoute({
    access,
    method: 'post',
    path: `/api/proposals/{proposal}/${verb}`,
    request: { params: proposal, body: body(given) },
    responses: answers(description, view.proposalAnswerSchema),
  });
}

/** Proposals of planning agents: changes of a plan that are not accepted yet. */
export const proposalRoutes = {
  listProposals: defineRoute({
    access: forAgents('list proposals', '7.23'),
    method: 'get',
    path: '/api/proposals',
    request: { query: view.proposalListQuerySchema },
    responses: answers('The proposals, in the order in which they were made.', view.proposalListSchema),
  }),
  showProposal: defineRoute({
    access: forAgents('see a proposal', '7.23'),
    method: 'get',
    path: '/api/proposals/{proposal}',
    request: { params: proposal },
    responses: answers('What it would change, and why it cannot be accepted now.', view.proposalAnswerSchema),
  }),
  acceptProposal: verbRoute(
    forMains('change', 'accept a proposal', 'S3-32', finalize),
    'accept',
    view.acceptProposalSchema,
    'The proposal, whose items are part of the plan now: all of them, or none.',
  ),
  dismissProposal: verbRoute(
    forMains('change', 'dismiss a proposal', 'S3-32', finalize),
    'dismiss',
    view.dismissProposalSchema,
    'The proposal, which changes nothing.',
  ),
  revertProposal: verbRoute(
    forMains('change', 'revert a proposal', 'S3-32', finalize),
    'revert',
    z.object({}),
    'The proposal; the plan is exactly as before it.',
  ),
} as const;
