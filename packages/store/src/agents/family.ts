import type { Agent } from '@pawl/schema/record';
import { sql } from 'kysely';
import { agentOf } from './agents.ts';
import type { Database, Row } from '../tables.ts';

/**
 * An agent and all its descendants, children before parents: the order in which to end them. Includes descendants of
 * dead agents.
 */
export async function descendants(db: Database, agentId: string): Promise<Agent[]> {
  // A cross join, because SQLite keeps its order; otherwise it would scan all agents.
  const { rows } = await sql<Row<'agents'>>`
    with recursive family (id, depth) as (
      select agents.id, 0 from agents where agents.id = ${agentId}
      union all
      select agents.id, family.depth + 1 from family join agents on agents.parent_id = family.id
    )
    select agents.* from family cross join agents where agents.id = family.id
    order by family.depth desc, agents.ordinal desc`.execute(db);
  return rows.map(agentOf);
}

/** The living children of an agent, oldest first. */
export async function livingChildren(db: Database, agentId: string): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('parent_id', '=', agentId)
    .where('ended_at', 'is', null)
    .orderBy('ordinal')
    .execute();
  return rows.map(agentOf);
}

/** The living agents that an agent supervises. */
export async function supervisedBy(db: Database, agentId: string): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('supervisor_id', '=', agentId)
    .where('ended_at', 'is', null)
    .orderBy('ordinal')
    .execute();
  return rows.map(agentOf);
}

/** True if `ancestorId` is an ancestor of the agent. */
export async function descendsFrom(db: Database, agentId: string, ancestorId: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with recursive line (id, parent_id) as (
      select agents.id, agents.parent_id from agents where agents.id = ${agentId}
      union all
      select agents.id, agents.parent_id from line join agents on agents.id = line.parent_id
    )
    select id from line where id = ${ancestorId} and id <> ${agentId}`.execute(db);
  return rows.length > 0;
}

/** The nearest living ancestor; agent 0 always is. */
export async function nearestLivingAncestor(db: Database, agentId: string): Promise<Agent | null> {
  const { rows } = await sql<Row<'agents'>>`
    with recursive line (id, parent_id, depth) as (
      select agents.id, agents.parent_id, 0 from agents where agents.id = ${agentId}
      union all
      select agents.id, agents.parent_id, line.depth + 1 from line join agents on agents.id = line.parent_id
    )
    select agents.* from line join agents on agents.id = line.id
    where line.depth > 0 and agents.ended_at is null order by line.depth limit 1`.execute(db);
  return rows[0] === undefined ? null : agentOf(rows[0]);
}

/** The living mains of a project, oldest first; then those with a further worktree there. */
export async function livingMains(db: Database, projectId: string): Promise<Agent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .where('kind', '=', 'main')
    .orderBy('ordinal')
    .execute();
  const guests = await db
    .selectFrom('agent_places')
    .innerJoin('agents', 'agents.id', 'agent_places.agent_id')
    .selectAll('agents')
    .where('agent_places.project_id', '=', projectId)
    .where('agent_places.end', 'is', null)
    .where('agents.ended_at', 'is', null)
    .where('agents.kind', '=', 'main')
    .orderBy('agents.ordinal')
    .execute();
  return [...rows, ...guests].map(agentOf);
}
