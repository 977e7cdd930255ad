import { runSchema } from '@pawl/schema/record';
import type { Run } from '@pawl/schema/record';
import { limits } from '@pawl/schema/limit';
import { integer, nullableInteger, nullableJson, toColumns } from './row.ts';
import type { Database, RunTable } from './tables.ts';
import type { Selectable } from 'kysely';
import type { WriteTransaction } from './write-transaction.ts';

export type RunEnd = { outcome: NonNullable<Run['outcome']>; detail: string | null; questions: Run['questions'] };

/** Adds a run and makes it the latest one of its agent. */
export async function insertRun(tx: WriteTransaction, run: Run): Promise<void> {
  await tx.db.insertInto('runs').values(toColumns(run)).execute();
  await tx.db.updateTable('agents').set({ run_id: run.id }).where('id', '=', run.agentId).execute();
}

/** Ends a run that still runs. Returns false when somebody else has ended it already; then nothing changes. */
export async function endRun(tx: WriteTransaction, id: string, end: RunEnd): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('runs')
    .set({ ...toColumns(end), ended_at: tx.now })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The run with this id, or null. */
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

/** The columns that make a run record. */
export const runColumns = [
  'id',
  'project_id',
  'agent_id',
  'agent_kind',
  'parent_run_id',
  'task',
  'started_at',
  'ended_at',
  'outcome',
  'detail',
  'questions',
] as const satisfies (keyof RunTable)[];

/** Reads a run record from its columns. */
export function runOf(row: Pick<Selectable<RunTable>, (typeof runColumns)[number]>): Run {
  return {
    id: row.id,
    projectId: row.project_id,
    agentId: row.agent_id,
    agentKind: row.agent_kind,
    parentRunId: row.parent_run_id,
    task: row.task,
    startedAt: integer(row.started_at),
    endedAt: nullableInteger(row.ended_at),
    outcome: row.outcome,
    detail: row.detail,
    questions: nullableJson(runSchema.shape.questions, row.questions),
  };
}
