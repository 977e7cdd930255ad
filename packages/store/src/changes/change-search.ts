import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '../agents/agent-views.ts';
import { agentById, agentOf } from '../agents/agents.ts';
import { changeById } from './changes.ts';
import { agentAt } from '@pawl/schema/place';
import { placeOfBranch } from '../agents/places.ts';
import { integer } from '../row.ts';
import type { Database } from '../tables.ts';

/** The open change that an agent stands in for, or null. */
export async function openChangeOfStandIn(db: Database, projectId: string, agentId: string): Promise<Change | null> {
  const row = await db
    .selectFrom('changes')
    .select('id')
    .where('project_id', '=', projectId)
    .where('merged_at', 'is', null)
    .where('closed_at', 'is', null)
    .where('stand_in_id', '=', agentId)
    .orderBy('ordinal', 'desc')
    .executeTakeFirst();
  return row === undefined ? null : changeById(db, row.id);
}

/**
 * The latest change of an agent, or of the author it stands in for; for a person, of the same branch. Optionally only
 * those opened in a time span.
 */
export async function lastChangeOf(
  db: Database,
  projectId: string,
  { agentId, branch }: { agentId: string | null; branch: string },
  { from = 0, before = Number.MAX_SAFE_INTEGER }: { from?: number; before?: number } = {},
): Promise<Change | null> {
  const row = await db
    .selectFrom('changes')
    .select('id')
    .where('project_id', '=', projectId)
    .where('opened_at', '>=', from)
    .where('opened_at', '<', before)
    .where((where) =>
      agentId === null
        ? where.and([where('branch', '=', branch), where('agent_id', 'is', null)])
        : where.or((['agent_id', 'stand_in_id', 'author_id'] as const).map((column) => where(column, '=', agentId))),
    )
    .orderBy('ordinal', 'desc')
    .executeTakeFirst();
  return row === undefined ? null : changeById(db, row.id);
}

/** The agent that has or last had a branch; for one with several projects, as it is in this one. */
export async function agentOfBranch(db: Database, projectId: string, branch: string): Promise<Agent | null> {
  const row = await db
    .selectFrom('agents')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('branch', '=', branch)
    .orderBy('ordinal', 'desc')
    .executeTakeFirst();
  if (row !== undefined) return agentOf(row);
  const place = await placeOfBranch(db, projectId, branch);
  const agent = place === null ? null : await agentById(db, place.agentId);
  return place === null || agent === null ? null : agentAt(agent, place);
}

/** The given heads that a change of the project proposes, open or not. */
export async function proposedHeads(db: Database, projectId: string, heads: readonly string[]): Promise<Set<string>> {
  if (heads.length === 0) return new Set();
  const rows = await db
    .selectFrom('changes')
    .select('head')
    .where('project_id', '=', projectId)
    .where('head', 'in', heads)
    .execute();
  return new Set(rows.map(({ head }) => head));
}

/** The number of changes that are neither merged nor closed. */
export async function countOpenChanges(db: Database, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('changes')
    .select(({ fn }) => fn.countAll<number | string | bigint>().as('count'))
    .where('project_id', '=', projectId)
    .where('merged_at', 'is', null)
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return integer(row.count);
}

/**
 * The agents of a project whose latest run completed since a time, and that may have something to propose: ephemeral
 * ones with their own branch, in their first project or a further one. Git knows whether the branch has commits.
 */
export async function finishedAuthors(
  db: Database,
  projectId: string,
  since: number,
): Promise<{ agentId: string; runId: string }[]> {
  const authors = db
    .selectFrom('agents')
    .innerJoin('runs', 'runs.id', 'agents.run_id')
    .select(['agents.id as agent_id', 'runs.id as run_id'])
    .where('agents.kind', '=', 'main')
    .where('agents.class', '=', 'ephemeral')
    .where('agents.mode', 'not in', ['errand', 'review'])
    .where('agents.branch', 'is not', null)
    .where('runs.outcome', '=', 'completed')
    .where('runs.questions', 'is', null)
    .where('runs.ended_at', '>=', since)
    .orderBy('agents.ordinal', 'desc')
    .limit(limits.pageRows);
  const own = await authors.where('agents.project_id', '=', projectId).execute();
  const guests = await authors
    .innerJoin('agent_places', 'agent_places.agent_id', 'agents.id')
    .where('agent_places.project_id', '=', projectId)
    .execute();
  return [...guests, ...own].map((row) => ({ agentId: row.agent_id, runId: row.run_id })).toReversed();
}

/** The latest changes of a project that have a stand-in. */
export async function changesTakenOver(db: Database, projectId: string): Promise<Change[]> {
  const rows = await db
    .selectFrom('changes')
    .select('id')
    .where('project_id', '=', projectId)
    .where('stand_in_id', 'is not', null)
    .orderBy('ordinal', 'desc')
    .limit(limits.usualChanges)
    .execute();
  const changes = await Promise.all(rows.map(({ id }) => changeById(db, id)));
  return changes.filter((change) => change !== null);
}

/** The latest agents with their own branch and a run, newest first; of one project, or of all. */
export async function agentsThatRan(
  db: Database,
  { projectId, limit }: { projectId?: string; limit: number },
): Promise<AgentFacts[]> {
  let query = db
    .selectFrom('agents')
    .select('id')
    .where('branch', 'is not', null)
    .where('kind', '=', 'main')
    .where('run_id', 'is not', null)
    .orderBy('ordinal', 'desc')
    .limit(limit);
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  const views = await Promise.all((await query.execute()).map(({ id }) => agentView(db, id)));
  return views.filter((view) => view !== null);
}
