import { runSchema } from '@pawl/schema/record';
import type { Run, RunCause } from '@pawl/schema/record';
import { limits } from '@pawl/schema/limit';
import { integer, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, Row, RunTable } from '../tables.ts';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { WriteTransaction } from '../write-transaction.ts';

export type RunEnd = {
  outcome: NonNullable<Run['outcome']>;
  detail: string | null;
  questions: Run['questions'];
  cause?: RunCause | undefined;
};

/** Adds a run and makes it the latest of its agent. Records a new assignment in the first run for it. */
export async function insertRun(tx: WriteTransaction, run: Run): Promise<void> {
  const given = await tx.db.selectFrom('agents').select('assignment').where('id', '=', run.agentId).executeTakeFirst();
  const known = await tx.db
    .selectFrom('runs')
    .select('assignment')
    .where('agent_id', '=', run.agentId)
    .where('assignment', 'is not', null)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  const assignment = given?.assignment === known?.assignment ? null : (given?.assignment ?? null);
  await tx.db
    .insertInto('runs')
    .values({ ...toColumns(run), assignment })
    .execute();
  await tx.db.updateTable('agents').set({ run_id: run.id }).where('id', '=', run.agentId).execute();
}

/** Ends an open run. Returns false and changes nothing if it has ended already. */
export async function endRun(tx: WriteTransaction, id: string, end: RunEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('runs')
    .set({ ...toColumns(end), ended_at: tx.now })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Records the result of an open run before it is asked to commit leftovers. */
export async function noteOutcome(tx: WriteTransaction, id: string, result: string): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ result_before: result })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute();
}

/** Makes an open run wait until a time, or ends the wait with null. */
export async function setWait(
  tx: WriteTransaction,
  id: string,
  wait: { until: number; for: NonNullable<Run['waitFor']>; detail: string } | null,
): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ wait_until: wait?.until ?? null, wait_for: wait?.for ?? null, detail: wait?.detail ?? null })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .execute();
}

/** Ends the wait of every open run for an account of a provider; returns their agents. */
export async function endAccountWaits(tx: WriteTransaction, provider: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('runs')
    .innerJoin('agents', 'agents.id', 'runs.agent_id')
    .select(['runs.id', 'runs.agent_id'])
    .where('runs.outcome', 'is', null)
    .where('runs.wait_for', '=', 'account')
    .where('agents.account_id', 'is not', null)
    .where('agents.provider', '=', provider)
    .execute();
  for (const { id } of rows) await setWait(tx, id, null);
  return rows.map((row) => row.agent_id);
}

/** Ends every open run of some agents; returns the run ids. */
export async function endRunsOf(tx: WriteTransaction, agentIds: readonly string[], end: RunEnd): Promise<string[]> {
  const ended: string[] = [];
  for (let from = 0; from < agentIds.length; from += agentsPerStatement) {
    const rows = await tx.db
      .updateTable('runs')
      .set({ ...toColumns(end), ended_at: tx.now })
      .where('agent_id', 'in', agentIds.slice(from, from + agentsPerStatement))
      .where('outcome', 'is', null)
      .returning('id')
      .execute();
    ended.push(...rows.map((row) => row.id));
  }
  return ended;
}

/** Agents per statement; databases limit the number of parameters. */
const agentsPerStatement = 500;

export async function runById(db: Database, id: string): Promise<Run | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? runOf(row) : null;
}

/** The runs of an agent, oldest first. */
export async function runsOf(db: Database, agentId: string): Promise<Run[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(runOf);
}

/** The run of an agent that began at a time. */
export async function runAtStart(db: Database, agentId: string, at: number): Promise<Run | null> {
  return latestRun(db, agentId, 'started_at', at);
}

/** The run of an agent that ended at a time. */
export async function runAtEnd(db: Database, agentId: string, at: number): Promise<Run | null> {
  return latestRun(db, agentId, 'ended_at', at);
}

async function latestRun(
  db: Database,
  agentId: string,
  time: 'started_at' | 'ended_at',
  at: number,
): Promise<Run | null> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where(time, '=', at)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? runOf(row) : null;
}

/** The runs that a run began, oldest first. */
export async function runsBegunBy(db: Database, runId: string): Promise<Run[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('parent_run_id', '=', runId)
    .orderBy('ordinal')
    .limit(limits.pageRows)
    .execute();
  return rows.map(runOf);
}

/** The latest runs, newest first: of a project, of a chat thread, or all. */
export async function listRuns(
  db: Database,
  filter: { projectId?: string | undefined; sessionId?: string | undefined; limit: number },
): Promise<Run[]> {
  let query = db.selectFrom('runs').selectAll().orderBy('ordinal', 'desc').limit(filter.limit);
  if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId);
  if (filter.sessionId !== undefined) query = query.where('session_id', '=', filter.sessionId);
  return (await query.execute()).map(runOf);
}

/** An assignment of an agent, and when and with which run it started. */
export type Assignment = { assignment: string; startedAt: number; ordinal: number };

/** The assignments of an agent, oldest first, each with its first run. */
export async function assignmentsOf(db: Database, agentId: string): Promise<Assignment[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['ordinal', 'assignment', 'started_at'])
    .where('agent_id', '=', agentId)
    .where('assignment', 'is not', null)
    .orderBy('ordinal')
    .execute();
  return rows.map((row) => ({
    assignment: row.assignment ?? '',
    startedAt: integer(row.started_at),
    ordinal: integer(row.ordinal),
  }));
}

/** The run of an agent before another of its runs. */
export async function runBefore(db: Database, agentId: string, ordinal: number): Promise<Run | null> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('ordinal', '<', ordinal)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? runOf(row) : null;
}

/** A run and all runs it started, directly or not, children before parents: the order in which to end them. */
export async function runTree(db: Database, runId: string): Promise<Run[]> {
  // A cross join, because SQLite keeps its order; otherwise it would scan all runs.
  const { rows } = await sql<Row<'runs'>>`
    with recursive tree (id, depth) as (
      select runs.id, 0 from runs where runs.id = ${runId}
      union all
      select runs.id, tree.depth + 1 from tree join runs on runs.parent_run_id = tree.id
    )
    select runs.* from tree cross join runs where runs.id = tree.id order by tree.depth desc, runs.ordinal desc`.execute(
    db,
  );
  return rows.map(runOf);
}

export async function openRuns(db: Database): Promise<Run[]> {
  const rows = await db.selectFrom('runs').selectAll().where('outcome', 'is', null).orderBy('ordinal').execute();
  return rows.map(runOf);
}

export const runColumns = [
  'id',
  'repo_path',
  'session_id',
  'project_id',
  'agent_id',
  'agent_kind',
  'parent_run_id',
  'task',
  'definition',
  'started_at',
  'ended_at',
  'outcome',
  'detail',
  'questions',
  'result_before',
  'wait_until',
  'wait_for',
  'cause',
] as const satisfies (keyof RunTable)[];

export function runOf(row: Pick<Selectable<RunTable>, (typeof runColumns)[number]>): Run {
  return {
    id: row.id,
    repoPath: row.repo_path,
    sessionId: row.session_id,
    projectId: row.project_id,
    agentId: row.agent_id,
    agentKind: row.agent_kind,
    parentRunId: row.parent_run_id,
    task: row.task,
    definition: nullableJson(runSchema.shape.definition.unwrap(), row.definition),
    startedAt: integer(row.started_at),
    endedAt: nullableInteger(row.ended_at),
    outcome: row.outcome,
    detail: row.detail,
    questions: nullableJson(runSchema.shape.questions, row.questions),
    resultBefore: row.result_before,
    waitUntil: nullableInteger(row.wait_until),
    waitFor: row.wait_for,
    cause: nullableJson(runSchema.shape.cause.unwrap(), row.cause),
  };
}
