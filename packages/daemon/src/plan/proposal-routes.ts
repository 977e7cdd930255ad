import type { OpenAPIHono } from '@hono/zod-openapi';
import { proposalRoutes } from '@pawl/protocol/plan/proposal-routes';
import type { ProposalAnswer, ProposalView } from '@pawl/protocol/plan/proposal-view';
import { PawlError } from '@pawl/schema/error';
import type { Proposal } from '@pawl/schema/plan/plan';
import { agentById } from '@pawl/store/agents/agents';
import { initiativeById } from '@pawl/store/plan/initiatives';
import { findProposals, listProposals } from '@pawl/store/plan/proposals';
import type { Database } from '@pawl/store/tables';
import type { Context } from 'hono';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import type { Decider } from '../tasks/proposals.ts';
import { acceptProposal, dismissProposal, problemsOf, requiredProposal, revertProposal } from '../tasks/proposals.ts';
import { askerOf } from './asker.ts';
import type { Asker } from './task-verbs.ts';
import { projectAt } from './task-verbs.ts';

export function addProposalRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform }: { platform: DefinitionPlatform },
): void {
  const { store } = platform;

  app.openapi(proposalRoutes.listProposals, async (context) => {
    const { path, all } = context.req.valid('query');
    const project = await projectAt(platform, await askerOf(platform, context), path);
    const found = await listProposals(store.db, { projectId: project?.id, open: all !== 'true' });
    const proposals: ProposalView[] = [];
    for (const proposal of found) proposals.push(await proposalView(store.db, proposal));
    return context.json({ proposals }, 200);
  });
  app.openapi(proposalRoutes.showProposal, async (context) => {
    const { id } = await find(store.db, await askerOf(platform, context), context.req.valid('param').proposal);
    return context.json(await answer(store.db, id), 200);
  });

  /** The proposal that a caller decides about: an agent has to leave its own to others. */
  async function toDecide(context: Context<DoorVariables>, word: string): Promise<[Proposal, Decider]> {
    const asker = await askerOf(platform, context);
    const proposal = await find(store.db, asker, word);
    if (asker !== null && asker.id === proposal.agentId)
      throw new PawlError('forbidden', 'An agent may not decide about its own proposal.');
    return [proposal, { by: asker?.alias ?? 'person', agentId: asker?.id ?? null }];
  }

  app.openapi(proposalRoutes.acceptProposal, async (context) => {
    const { items } = context.req.valid('json');
    const [{ id }, decider] = await toDecide(context, context.req.valid('param').proposal);
    await store.write((tx) => acceptProposal(tx, id, decider, items));
    return context.json(await answer(store.db, id), 200);
  });
  app.openapi(proposalRoutes.dismissProposal, async (context) => {
    const { reason } = context.req.valid('json');
    const [{ id }, decider] = await toDecide(context, context.req.valid('param').proposal);
    await store.write((tx) => dismissProposal(tx, id, decider, reason ?? ''));
    return context.json(await answer(store.db, id), 200);
  });
  app.openapi(proposalRoutes.revertProposal, async (context) => {
    const [{ id }, decider] = await toDecide(context, context.req.valid('param').proposal);
    await store.write((tx) => revertProposal(tx, id, decider));
    return context.json(await answer(store.db, id), 200);
  });
}

async function find(db: Database, asker: Asker, word: string): Promise<Proposal> {
  const found = (await findProposals(db, word)).filter(
    ({ projectId }) => asker === null || projectId === asker.projectId,
  );
  const [proposal] = found;
  if (proposal !== undefined && found.length === 1) return proposal;
  throw new PawlError(
    proposal === undefined ? 'not_found' : 'ambiguous',
    `${JSON.stringify(word.slice(0, 80))} names ${proposal === undefined ? 'no proposal' : 'several proposals'}.`,
    { hint: 'See `pawl proposal ls --all`; an id, or the first 4 or more characters of it, will do.' },
  );
}

async function answer(db: Database, id: string): Promise<ProposalAnswer> {
  const proposal = await requiredProposal(db, id);
  const view = await proposalView(db, proposal);
  const isOpen = view.state === 'open' || view.state === 'refused';
  return { proposal: view, problems: isOpen ? await problemsOf(db, proposal, proposal.items) : [] };
}

async function proposalView(db: Database, whole: Proposal): Promise<ProposalView> {
  const { undo: _undo, ...proposal } = whole;
  const agent = proposal.agentId === null ? null : await agentById(db, proposal.agentId);
  const plan = proposal.initiativeId === null ? null : await initiativeById(db, proposal.initiativeId);
  return {
    ...proposal,
    state: stateOf(proposal),
    agent: agent === null ? null : { id: agent.id, alias: agent.alias },
    plan: plan === null ? null : { id: plan.id, name: plan.name },
  };
}

function stateOf(proposal: Omit<Proposal, 'undo'>): ProposalView['state'] {
  if (proposal.revertedAt !== null) return 'reverted';
  if (proposal.acceptedAt !== null) return 'accepted';
  if (proposal.dismissedAt !== null) return 'dismissed';
  return proposal.complaints.length > 0 ? 'refused' : 'open';
}
