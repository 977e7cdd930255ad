import type { PathLock } from '@pawl/schema/runtime/path-lock';
import { pathLockSchema } from '@pawl/schema/runtime/path-lock';
import { integer, json, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export async function insertPathLock(tx: WriteTransaction, lock: PathLock): Promise<void> {
  await tx.db.insertInto('path_locks').values(toColumns(lock)).execute();
}

/** The locks of living agents in a project that have not expired, oldest first. */
export async function pathLocksOf(db: Database, projectId: string, now: number): Promise<PathLock[]> {
  const rows = await db
    .selectFrom('path_locks')
    .innerJoin('agents', 'agents.id', 'path_locks.agent_id')
    .selectAll('path_locks')
    .where('path_locks.project_id', '=', projectId)
    .where('path_locks.expires_at', '>', now)
    .where('agents.ended_at', 'is', null)
    .orderBy('path_locks.ordinal')
    .execute();
  return rows.map(lockOf);
}

/** Extends a lock; its end never moves back. */
export async function extendPathLock(tx: WriteTransaction, id: string, expiresAt: number): Promise<void> {
  await tx.db
    .updateTable('path_locks')
    .set({ expires_at: expiresAt })
    .where('id', '=', id)
    .where('expires_at', '<', expiresAt)
    .execute();
}

/** Ends a lock; false if it had ended before. */
export async function releasePathLock(tx: WriteTransaction, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('path_locks')
    .set({ expires_at: tx.now })
    .where('id', '=', id)
    .where('expires_at', '>', tx.now)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

function lockOf(row: Row<'path_locks'>): PathLock {
  return {
    id: row.id,
    projectId: row.project_id,
    agentId: row.agent_id,
    globs: json(pathLockSchema.shape.globs, row.globs),
    createdAt: integer(row.created_at),
    expiresAt: integer(row.expires_at),
  };
}
