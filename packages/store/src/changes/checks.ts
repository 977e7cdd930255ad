import { checkSchema } from '@pawl/schema/change';
import type { Check } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import { integer, json, nullableInteger, nullableJson, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Fields of a check that its run sets. */
export type CheckPatch = Partial<
  Pick<
    Check,
    | 'startedAt'
    | 'step'
    | 'stepStartedAt'
    | 'pid'
    | 'processStart'
    | 'outputOffset'
    | 'outputBytes'
    | 'endedAt'
    | 'outcome'
    | 'exitCode'
    | 'detail'
    | 'counts'
  >
>;

export async function insertCheck(tx: WriteTransaction, check: Check): Promise<void> {
  await tx.db.insertInto('checks').values(toColumns(check)).execute();
}

/** Updates an open check. Returns false if it has ended. */
export async function updateCheck(tx: WriteTransaction, id: string, patch: CheckPatch): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('checks')
    .set(toColumns(patch))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function checkById(db: Database, id: string): Promise<Check | null> {
  const row = await db.selectFrom('checks').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? checkOf(row) : null;
}

/** Checks that have not ended, oldest first. */
export async function openChecks(db: Database, projectId?: string): Promise<Check[]> {
  let query = db.selectFrom('checks').selectAll().where('ended_at', 'is', null).orderBy('ordinal');
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  return (await query.execute()).map(checkOf);
}

/** The checks of these trees with this plan, oldest first. */
export async function checksOfTrees(
  db: Database,
  { projectId, plan, trees }: { projectId: string; plan: string; trees: readonly string[] },
): Promise<Check[]> {
  if (trees.length === 0) return [];
  const rows = await db
    .selectFrom('checks')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('tree', 'in', trees)
    .where('plan', '=', plan)
    .orderBy('ordinal')
    .execute();
  return rows.map(checkOf);
}

/** The latest checks of a project, newest first. */
export async function recentChecks(db: Database, projectId: string, limit: number): Promise<Check[]> {
  const rows = await db
    .selectFrom('checks')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('ordinal', 'desc')
    .limit(limit)
    .execute();
  return rows.map(checkOf);
}

export type CheckChunk = { step: number; offset: number; bytes: Uint8Array };

/** Stores output of a check and advances its offset, in one transaction. */
export async function appendCheckChunk(tx: WriteTransaction, checkId: string, chunk: CheckChunk): Promise<void> {
  await tx.db
    .insertInto('check_chunks')
    .values({ check_id: checkId, step: chunk.step, start_offset: chunk.offset, bytes: chunk.bytes, at: tx.now })
    .execute();
}

/** The output of a check in order, after a chunk, within a number of bytes. */
export async function readCheckChunks(
  db: Database,
  checkId: string,
  { afterId = 0, limitBytes }: { afterId?: number; limitBytes: number },
): Promise<(CheckChunk & { id: number })[]> {
  const page = db
    .selectFrom('check_chunks')
    .where('check_id', '=', checkId)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limits.pageRows);
  const sizes = await page.select(['id', sql<number | string>`length(bytes)`.as('size')]).execute();
  let bytes = 0;
  let last: number | null = null;
  for (const { id, size } of sizes) {
    bytes += integer(size);
    if (last !== null && bytes > limitBytes) break;
    last = integer(id);
  }
  if (last === null) return [];
  const rows = await page.selectAll().where('id', '<=', last).execute();
  return rows.map((row) => ({
    id: integer(row.id),
    step: integer(row.step),
    offset: integer(row.start_offset),
    bytes: row.bytes,
  }));
}

const { steps, changes, counts } = checkSchema.shape;

function checkOf(row: Row<'checks'>): Check {
  return {
    id: row.id,
    projectId: row.project_id,
    commit: row.commit,
    tree: row.tree,
    plan: row.plan,
    steps: json(steps, row.steps),
    changes: json(changes, row.changes),
    onto: row.onto,
    plannedAt: integer(row.planned_at),
    startedAt: nullableInteger(row.started_at),
    step: integer(row.step),
    stepStartedAt: nullableInteger(row.step_started_at),
    pid: nullableInteger(row.pid),
    processStart: row.process_start,
    outputOffset: integer(row.output_offset),
    outputBytes: integer(row.output_bytes),
    endedAt: nullableInteger(row.ended_at),
    outcome: row.outcome,
    exitCode: nullableInteger(row.exit_code),
    detail: row.detail,
    counts: nullableJson(counts.unwrap(), row.counts),
  };
}
