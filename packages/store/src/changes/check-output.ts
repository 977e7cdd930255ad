import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import type { CheckChunk } from './checks.ts';
import { integer } from '../row.ts';
import type { Database } from '../tables.ts';

/** The end of a check's stored output, within a number of bytes; the first chunk may be cut. */
export async function readCheckEnd(
  db: Database,
  checkId: string,
  limitBytes: number,
): Promise<{ chunks: CheckChunk[]; leftOutBytes: number }> {
  const of = db.selectFrom('check_chunks').where('check_id', '=', checkId);
  const size = sql<number | string>`length(bytes)`;
  const last = await of
    .select(['id', size.as('size')])
    .orderBy('id', 'desc')
    .limit(limits.pageRows)
    .execute();
  let bytes = 0;
  let first: number | null = null;
  for (const each of last) {
    if (bytes >= limitBytes) break;
    first = integer(each.id);
    bytes += integer(each.size);
  }
  if (first === null) return { chunks: [], leftOutBytes: 0 };
  const before = await of
    .select(sql<number | string>`coalesce(sum(length(bytes)), 0)`.as('sum'))
    .where('id', '<', first)
    .executeTakeFirstOrThrow();
  const rows = await of.selectAll().where('id', '>=', first).orderBy('id').execute();
  const cutBytes = Math.max(0, bytes - limitBytes);
  const chunks = rows.map((row, index) => ({
    step: integer(row.step),
    offset: integer(row.start_offset) + (index === 0 ? cutBytes : 0),
    bytes: index === 0 ? row.bytes.subarray(cutBytes) : row.bytes,
  }));
  return { chunks, leftOutBytes: integer(before.sum) + cutBytes };
}
