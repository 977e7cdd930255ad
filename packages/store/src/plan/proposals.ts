import { limits } from '@pawl/schema/limit';
import type { Proposal } from '@pawl/schema/plan/plan';
import { proposalSchema } from '@pawl/schema/plan/plan';
import { isIdPrefix } from '../id-prefix.ts';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertProposal(tx: WriteTransaction, proposal: Proposal): Promise<void> {
  await tx.db.insertInto('proposals').values(toColumns(proposal)).execute();
}

export type ProposalPatch = Partial<
  Pick<Proposal, 'initiativeId' | 'acceptedAt' | 'undo' | 'dismissedAt' | 'dismissReason' | 'revertedAt' | 'decidedBy'>
>;

export async function updateProposal(tx: WriteTransaction, id: string, patch: ProposalPatch): Promise<void> {
  await tx.db.updateTable('proposals').set(toColumns(patch)).where('id', '=', id).execute();
}

export async function proposalById(db: Database, id: string): Promise<Proposal | null> {
  const row = await db.selectFrom('proposals').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : proposalOf(row);
}

export type ProposalFilter = {
  projectId?: string | undefined;
  initiativeId?: string;
  agentId?: string;
  /** Only those that wait for a decision. */
  open?: boolean;
};

/** In the order made; the newest if there are too many. */
export async function listProposals(db: Database, filter: ProposalFilter = {}): Promise<Proposal[]> {
  let query = db.selectFrom('proposals').selectAll().orderBy('ordinal', 'desc').limit(limits.pageRows);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.initiativeId !== undefined) query = query.where('initiative_id', '=', filter.initiativeId);
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId);
  if (filter.open === true) query = query.where('accepted_at', 'is', null).where('dismissed_at', 'is', null);
  return (await query.execute()).toReversed().map(proposalOf);
}

/** Proposals by id or id prefix. The caller refuses more than one match. */
export async function findProposals(db: Database, reference: string): Promise<Proposal[]> {
  if (!isIdPrefix(reference)) return [];
  const rows = await db
    .selectFrom('proposals')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(proposalOf);
}

export type PlanAgent = { agentId: string; initiativeId: string; phaseId: string | null };

export async function insertPlanAgent(tx: WriteTransaction, planAgent: PlanAgent): Promise<void> {
  await tx.db.insertInto('plan_agents').values(toColumns(planAgent)).execute();
}

/** The initiative that a planning agent works for, if any. */
export async function planAgentOf(db: Database, agentId: string): Promise<PlanAgent | null> {
  const row = await db.selectFrom('plan_agents').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
  return row === undefined ? null : { agentId: row.agent_id, initiativeId: row.initiative_id, phaseId: row.phase_id };
}

/** The agents that worked for a plan, with their tasks; architects have none. */
export async function agentsOfPlan(
  db: Database,
  initiativeId: string,
): Promise<{ id: string; taskId: string | null }[]> {
  const workers = await db
    .selectFrom('tasks')
    .innerJoin('agents', 'agents.task_id', 'tasks.id')
    .select(['agents.id', 'tasks.id as taskId'])
    .where('tasks.initiative_id', '=', initiativeId)
    .execute();
  const architects = await db
    .selectFrom('plan_agents')
    .select('agent_id as id')
    .where('initiative_id', '=', initiativeId)
    .execute();
  const known = new Set(workers.map(({ id }) => id));
  return [...workers, ...architects.filter(({ id }) => !known.has(id)).map(({ id }) => ({ id, taskId: null }))];
}

function proposalOf(row: Row<'proposals'>): Proposal {
  const { shape } = proposalSchema;
  return {
    id: row.id,
    projectId: row.project_id,
    initiativeId: row.initiative_id,
    agentId: row.agent_id,
    mode: row.mode,
    summary: row.summary,
    items: json(shape.items, row.items),
    complaints: json(shape.complaints, row.complaints),
    createdAt: integer(row.created_at),
    acceptedAt: nullableInteger(row.accepted_at),
    undo: nullableJson(shape.undo, row.undo),
    dismissedAt: nullableInteger(row.dismissed_at),
    dismissReason: row.dismiss_reason,
    revertedAt: nullableInteger(row.reverted_at),
    decidedBy: row.decided_by,
  };
}
