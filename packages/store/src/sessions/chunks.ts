import assert from 'node:assert/strict';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import { sql } from 'kysely';
import { hotQuery } from '../engine/hot-query.ts';
import { integer } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

export type NewChunk = Omit<Chunk, 'id' | 'at'>;

export type ChunkFilter = ({ agentId: string } | { sessionId: string }) & {
  /** Chunks with a greater id; 0 starts at the first. */
  afterId?: number;
  limitRows: number;
  /** The page ends before this many bytes, but has at least one chunk if there is one. */
  limitBytes: number;
};

type ChunkValues = [
  sessionId: string,
  agentId: string,
  stream: Chunk['stream'],
  offset: number,
  bytes: Uint8Array,
  at: number,
];

const insertChunk = hotQuery<ChunkValues, Pick<Row<'chunks'>, 'id'>>(
  ['1', '2', 'stdout', 3, new Uint8Array(1), 4],
  (db, [sessionId, agentId, stream, offset, bytes, at]) =>
    db
      .insertInto('chunks')
      .values({ session_id: sessionId, agent_id: agentId, stream, start_offset: offset, bytes, at })
      .returning('id'),
);

type OffsetValues = [end: number, sessionId: string, start: number];

/** Advances a stream's offset past a chunk, if it is where the chunk begins. */
const moveOffsetOf = {
  stdout: moveColumn('stdout_offset'),
  stderr: moveColumn('stderr_offset'),
};

/**
 * Stores output and advances the session's offset, in one transaction, only if the offset is where the chunk begins.
 * So no byte is stored twice or skipped, even with several readers.
 */
export async function appendChunk(tx: WriteTransaction, chunk: NewChunk): Promise<Chunk> {
  assert(chunk.bytes.length > 0 && chunk.bytes.length <= limits.chunkBytes, 'a chunk has 1 to chunkBytes bytes');
  await moveOffset(tx, chunk);
  const { sessionId, agentId, stream, offset, bytes } = chunk;
  const { rows } = await insertChunk(tx.db, [sessionId, agentId, stream, offset, bytes, tx.now]);
  assert(rows[0]);
  const stored = { id: integer(rows[0].id), at: tx.now, ...chunk };
  tx.announce(stored);
  return stored;
}

/** Reads output in storage order, within both limits. */
export async function readChunks(db: Database, filter: ChunkFilter): Promise<Chunk[]> {
  const column = 'agentId' in filter ? 'agent_id' : 'session_id';
  const owner = 'agentId' in filter ? filter.agentId : filter.sessionId;
  const page = db
    .selectFrom('chunks')
    .where(column, '=', owner)
    .where('id', '>', filter.afterId ?? 0)
    .orderBy('id')
    .limit(Math.min(filter.limitRows, limits.pageRows));
  // Sizes first: the bytes of an oversized page never come into memory.
  const sizes = await page.select(['id', sql<number | string>`length(bytes)`.as('size')]).execute();
  const lastId = lastWithin(sizes, filter.limitBytes);
  if (lastId === null) return [];
  const rows = await page.selectAll().where('id', '<=', lastId).execute();
  return rows.map(chunkOf);
}

async function moveOffset(tx: WriteTransaction, chunk: NewChunk): Promise<void> {
  const end = chunk.offset + chunk.bytes.length;
  const { numAffectedRows } = await moveOffsetOf[chunk.stream](tx.db, [end, chunk.sessionId, chunk.offset]);
  if (numAffectedRows === 1n) return;
  throw new PawlError('conflict', `${chunk.stream} of session ${chunk.sessionId} is not at offset ${chunk.offset}.`, {
    hint: 'Read the stored offset again and continue from there.',
    details: { sessionId: chunk.sessionId, stream: chunk.stream, offset: chunk.offset },
  });
}

function moveColumn(column: 'stdout_offset' | 'stderr_offset') {
  return hotQuery<OffsetValues, unknown>([1, '2', 3], (db, [end, sessionId, start]) =>
    db.updateTable('sessions').set(column, end).where('id', '=', sessionId).where(column, '=', start),
  );
}

/** The id of the last chunk that fits into this many bytes. */
function lastWithin(
  sizes: { id: number | string | bigint; size: number | string }[],
  limitBytes: number,
): number | null {
  let bytes = 0;
  let last: number | null = null;
  for (const { id, size } of sizes) {
    bytes += integer(size);
    if (last !== null && bytes > limitBytes) break;
    last = integer(id);
  }
  return last;
}

function chunkOf(row: Row<'chunks'>): Chunk {
  return {
    id: integer(row.id),
    sessionId: row.session_id,
    agentId: row.agent_id,
    stream: row.stream,
    offset: integer(row.start_offset),
    bytes: row.bytes,
    at: integer(row.at),
  };
}

/** The id after which an agent's last `count` chunks come. */
export async function recentChunkId(db: Database, agentId: string, count: number): Promise<number> {
  const row = await db
    .selectFrom('chunks')
    .select('id')
    .where('agent_id', '=', agentId)
    .orderBy('id', 'desc')
    .offset(count)
    .limit(1)
    .executeTakeFirst();
  return row ? integer(row.id) : 0;
}

/** The chunk of a stream that ends where another begins, or null. */
export async function chunkBefore(db: Database, chunk: Chunk): Promise<Chunk | null> {
  const row = await db
    .selectFrom('chunks')
    .selectAll()
    .where('session_id', '=', chunk.sessionId)
    .where('stream', '=', chunk.stream)
    .where('start_offset', '<', chunk.offset)
    .orderBy('start_offset', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? chunkOf(row) : null;
}
