import type { AgentPlace } from '@pawl/schema/record';
import { worktreeEndSchema } from '@pawl/schema/record';
import { integer, nullableInteger, nullableJson, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of a place that may change after the fork. */
export type PlacePatch = Partial<Pick<AgentPlace, 'baseCommit' | 'readyAt' | 'end'>>;

/** Adds a worktree of an agent in a further project. */
export async function insertPlace(tx: WriteTransaction, place: AgentPlace): Promise<void> {
  await tx.db.insertInto('agent_places').values(toColumns(place)).execute();
}

export async function updatePlace(
  tx: WriteTransaction,
  { agentId, projectId }: Pick<AgentPlace, 'agentId' | 'projectId'>,
  patch: PlacePatch,
): Promise<void> {
  await tx.db
    .updateTable('agent_places')
    .set(toColumns(patch))
    .where('agent_id', '=', agentId)
    .where('project_id', '=', projectId)
    .execute();
}

/** The further places of an agent, in the order of its projects. */
export async function placesOfAgent(db: Database, agentId: string): Promise<AgentPlace[]> {
  const rows = await db.selectFrom('agent_places').selectAll().where('agent_id', '=', agentId).orderBy('no').execute();
  return rows.map(placeFrom);
}

/** The further places of several agents, by agent id. */
export async function placesOfAgents(db: Database, agentIds: readonly string[]): Promise<Map<string, AgentPlace[]>> {
  const found = new Map<string, AgentPlace[]>();
  if (agentIds.length === 0) return found;
  const rows = await db
    .selectFrom('agent_places')
    .selectAll()
    .where('agent_id', 'in', agentIds)
    .orderBy('agent_id')
    .orderBy('no')
    .execute();
  for (const place of rows.map(placeFrom)) found.set(place.agentId, [...(found.get(place.agentId) ?? []), place]);
  return found;
}

/** The further places that still have a worktree: in use, kept or restored. */
export async function presentPlaces(db: Database): Promise<AgentPlace[]> {
  const rows = await db
    .selectFrom('agent_places')
    .selectAll()
    .where((where) =>
      where.or([where('end', 'is', null), where('end', 'like', '%"retained"%'), where('end', 'like', '%"restored"%')]),
    )
    .orderBy('agent_id')
    .orderBy('no')
    .limit(storeLimits.worktrees)
    .execute();
  return rows.map(placeFrom);
}

/** The further place whose worktree is in the trash under this name, or null. */
export async function placeOfTrash(db: Database, entry: string): Promise<AgentPlace | null> {
  const rows = await db.selectFrom('agent_places').selectAll().where('end', 'like', '%"trashed"%').execute();
  return rows.map(placeFrom).find(({ end }) => end?.state === 'trashed' && end.entry === entry) ?? null;
}

/** The further place in a project of the agent with this branch, newest agent first, or null. */
export async function placeOfBranch(db: Database, projectId: string, branch: string): Promise<AgentPlace | null> {
  const row = await db
    .selectFrom('agent_places')
    .innerJoin('agents', 'agents.id', 'agent_places.agent_id')
    .selectAll('agent_places')
    .where('agent_places.project_id', '=', projectId)
    .where('agent_places.branch', '=', branch)
    .orderBy('agents.ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : placeFrom(row);
}

function placeFrom(row: Row<'agent_places'>): AgentPlace {
  return {
    agentId: row.agent_id,
    projectId: row.project_id,
    no: integer(row.no),
    path: row.path,
    branch: row.branch,
    baseCommit: row.base_commit,
    snapshot: row.snapshot,
    readyAt: nullableInteger(row.ready_at),
    end: nullableJson(worktreeEndSchema, row.end),
  };
}
