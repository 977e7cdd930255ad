import type { Database } from '../tables.ts';

export async function stuckAgents(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('agents')
    .select('id')
    .where('ended_at', 'is', null)
    .where('stuck_at', 'is not', null)
    .execute();
  return rows.map((row) => row.id);
}

/** The living persistent agents whose latest run failed and that were not stopped. */
export async function failedPersistentAgents(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('agents')
    .innerJoin('runs', 'runs.id', 'agents.run_id')
    .select('agents.id')
    .where('agents.ended_at', 'is', null)
    .where('agents.class', '=', 'persistent')
    .where('agents.stop_requested_at', 'is', null)
    .where('runs.outcome', '=', 'failed')
    .execute();
  return rows.map((row) => row.id);
}

/** Counts failed runs since a time, among the latest runs only. */
export async function countFailures(db: Database, agentId: string, since: number): Promise<number> {
  const latest = db
    .selectFrom('runs')
    .select(['outcome', 'ended_at'])
    .where('agent_id', '=', agentId)
    .orderBy('ordinal', 'desc')
    .limit(latestRuns);
  const rows = await db
    .selectFrom(latest.as('latest'))
    .select('latest.outcome')
    .where('latest.outcome', '=', 'failed')
    .where('latest.ended_at', '>', since)
    .execute();
  return rows.length;
}

/** More runs than an agent can fail in the counted period. */
const latestRuns = 100;
