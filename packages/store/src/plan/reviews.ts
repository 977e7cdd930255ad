import type { PhaseWork, ReviewThread } from '@pawl/schema/plan/plan';
import { reviewThreadSchema } from '@pawl/schema/plan/plan';
import { isIdPrefix } from '../id-prefix.ts';
import { integer, nullableInteger, nullableJson, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertThread(tx: WriteTransaction, thread: ReviewThread): Promise<void> {
  await tx.db.insertInto('review_threads').values(toColumns(thread)).execute();
}

export type ThreadPatch = Partial<
  Pick<ReviewThread, 'revisionId' | 'answer' | 'answeredAt' | 'answeredBy' | 'resolvedAt'>
>;

export async function updateThread(tx: WriteTransaction, id: string, patch: ThreadPatch): Promise<void> {
  await tx.db.updateTable('review_threads').set(toColumns(patch)).where('id', '=', id).execute();
}

/** The review threads of an initiative, in the order opened. */
export async function threadsOf(db: Database, initiativeId: string): Promise<ReviewThread[]> {
  const rows = await db
    .selectFrom('review_threads')
    .selectAll()
    .where('initiative_id', '=', initiativeId)
    .orderBy('ordinal')
    .execute();
  return rows.map(threadOf);
}

/** Threads by id or id prefix. The caller refuses more than one match. */
export async function findThreads(db: Database, reference: string): Promise<ReviewThread[]> {
  if (!isIdPrefix(reference)) return [];
  const rows = await db
    .selectFrom('review_threads')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(threadOf);
}

/** Remembers where a task's work goes on the branch of its plan; replaces an earlier try. */
export async function putTaskLanding(tx: WriteTransaction, { taskId, from, to }: PhaseWork): Promise<void> {
  await tx.db
    .insertInto('task_landings')
    .values({ task_id: taskId, from_commit: from, to_commit: to })
    .onConflict((conflict) => conflict.column('task_id').doUpdateSet({ from_commit: from, to_commit: to }))
    .execute();
}

export async function taskLandingOf(db: Database, taskId: string): Promise<PhaseWork | null> {
  const row = await db.selectFrom('task_landings').selectAll().where('task_id', '=', taskId).executeTakeFirst();
  return row === undefined ? null : { taskId: row.task_id, from: row.from_commit, to: row.to_commit };
}

function threadOf(row: Row<'review_threads'>): ReviewThread {
  return {
    id: row.id,
    initiativeId: row.initiative_id,
    phaseId: row.phase_id,
    anchor: nullableJson(reviewThreadSchema.shape.anchor.unwrap(), row.anchor),
    body: row.body,
    createdAt: integer(row.created_at),
    revisionId: row.revision_id,
    answer: row.answer,
    answeredAt: nullableInteger(row.answered_at),
    answeredBy: row.answered_by,
    resolvedAt: nullableInteger(row.resolved_at),
  };
}
