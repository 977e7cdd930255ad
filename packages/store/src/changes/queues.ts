import { advanceSchema, emergencySchema, queueWaitSchema, testCountSchema } from '@pawl/schema/change';
import type { Queue } from '@pawl/schema/change';
import { integer, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of a queue that may change. */
export type QueuePatch = Partial<Omit<Queue, 'projectId' | 'beganAt'>>;

/** Creates a project's queue unless it exists. */
export async function beginQueue(tx: WriteTransaction, projectId: string, branch: string): Promise<void> {
  const queue: Queue = {
    projectId,
    branch,
    seen: null,
    green: null,
    counts: null,
    emergency: null,
    pausedAt: null,
    waiting: null,
    advance: null,
    divergedAt: null,
    beganAt: tx.now,
  };
  await tx.db
    .insertInto('queues')
    .values(toColumns(queue))
    .onConflict((conflict) => conflict.column('project_id').doNothing())
    .execute();
}

export async function updateQueue(tx: WriteTransaction, projectId: string, patch: QueuePatch): Promise<void> {
  const columns = toColumns(patch);
  if (Object.keys(columns).length === 0) return;
  await tx.db.updateTable('queues').set(columns).where('project_id', '=', projectId).execute();
}

/** The queue of a project, or null before its first change. */
export async function queueOf(db: Database, projectId: string): Promise<Queue | null> {
  const row = await db.selectFrom('queues').selectAll().where('project_id', '=', projectId).executeTakeFirst();
  return row ? queueFrom(row) : null;
}

export async function allQueues(db: Database): Promise<Queue[]> {
  return (await db.selectFrom('queues').selectAll().orderBy('project_id').execute()).map(queueFrom);
}

function queueFrom(row: Row<'queues'>): Queue {
  return {
    projectId: row.project_id,
    branch: row.branch,
    seen: row.seen,
    green: row.green,
    counts: nullableJson(testCountSchema, row.counts),
    emergency: nullableJson(emergencySchema, row.emergency),
    pausedAt: nullableInteger(row.paused_at),
    waiting: nullableJson(queueWaitSchema, row.waiting),
    advance: nullableJson(advanceSchema, row.advance),
    divergedAt: nullableInteger(row.diverged_at),
    beganAt: integer(row.began_at),
  };
}
