import { AssertionError } from 'node:assert';
import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import { appendChunk, readChunks, recentChunkId } from '@pawl/store/sessions/chunks';
import { sessionOffsets } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { addTeam, range } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** The contract of stored output, on every engine. */
export function chunksContract(engine: EngineUnderTest): void {
  test('bytes round-trip, are announced after the commit, and move the offset [S3-22, S3-50, S3-70]', async () => {
    const store = await openFresh(engine);
    const team = await addTeam(store);
    const told: Chunk[] = [];
    store.onCommit(({ chunks }) => told.push(...chunks));
    const every = Uint8Array.from(range(0, 255));
    const large = new Uint8Array(limits.chunkBytes).fill(0xff);
    await append(store, team, 'stdout', 0, every, large);
    await append(store, team, 'stderr', 0, new Uint8Array([0]));
    const read = await readChunks(store.db, { agentId: team.agent.id, limitRows: 10, limitBytes: Infinity });
    expect(read.map(({ stream, offset }) => ({ stream, offset }))).toEqual([
      { stream: 'stdout', offset: 0 },
      { stream: 'stdout', offset: 256 },
      { stream: 'stderr', offset: 0 },
    ]);
    const expected = [every, large, new Uint8Array([0])];
    expect(read.map(({ bytes }, index) => Buffer.compare(bytes, expected[index] ?? new Uint8Array()))).toEqual([
      0, 0, 0,
    ]);
    expect(told.map(({ id }) => id)).toEqual(read.map(({ id }) => id));
    const offsets = { stdout: 256 + limits.chunkBytes, stderr: 1 };
    expect(await sessionOffsets(store.db, team.session.id)).toEqual(offsets);
  });

  test('no byte is stored twice or skipped', async () => {
    const store = await openFresh(engine);
    const team = await addTeam(store);
    const ten = new Uint8Array(10);
    await append(store, team, 'stdout', 0, ten);
    for (const offset of [0, 5, 11]) {
      await expect(append(store, team, 'stdout', offset, ten)).rejects.toMatchObject({ code: 'conflict' });
    }
    await expect(append(store, { ...team, session: { id: 'nobody' } }, 'stdout', 0, ten)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await sessionOffsets(store.db, team.session.id)).toEqual({ stdout: 10, stderr: 0 });
    await append(store, team, 'stdout', 10, ten);
    await expect(append(store, team, 'stdout', 20, new Uint8Array(0))).rejects.toThrow(AssertionError);
  });

  test('a rollback restores chunk and offset, and announces nothing', async () => {
    const store = await openFresh(engine);
    const team = await addTeam(store);
    let told = 0;
    store.onCommit(() => (told += 1));
    await expect(append(store, team, 'stdout', 0, new Uint8Array(4), new Uint8Array(0))).rejects.toThrow();
    expect(await sessionOffsets(store.db, team.session.id)).toEqual({ stdout: 0, stderr: 0 });
    const page = { sessionId: team.session.id, limitRows: 10, limitBytes: 100 };
    expect(await readChunks(store.db, page)).toEqual([]);
    expect(told).toBe(0);
  });

  test('a page is bounded in rows and bytes, and always makes progress [S3-73]', async () => {
    const store = await openFresh(engine);
    const team = await addTeam(store);
    await append(store, team, 'stdout', 0, ...range(1, 6).map(() => new Uint8Array(100)));
    const page = async (limitRows: number, limitBytes: number, afterId = 0) => {
      const chunks = await readChunks(store.db, { sessionId: team.session.id, limitRows, limitBytes, afterId });
      return chunks.map(({ id, offset }) => ({ id, offset }));
    };
    expect((await page(2, 1_000)).map(({ offset }) => offset)).toEqual([0, 100]);
    const within = await page(10, 399);
    expect(within.map(({ offset }) => offset)).toEqual([0, 100, 200]);
    expect((await page(10, 1, within.at(-1)?.id)).map(({ offset }) => offset)).toEqual([300]);
    const rest = await page(10, 1_000, within.at(-1)?.id);
    expect(rest.map(({ offset }) => offset)).toEqual([300, 400, 500]);
    expect(await page(10, 1_000, rest.at(-1)?.id)).toEqual([]);
    expect(await page(10, 1_000, await recentChunkId(store.db, team.agent.id, 3))).toEqual(rest);
    expect(await recentChunkId(store.db, team.agent.id, 6)).toBe(0);
  });
}

async function append(
  store: Store,
  team: { agent: { id: string }; session: { id: string } },
  stream: Chunk['stream'],
  start: number,
  ...parts: Uint8Array[]
): Promise<void> {
  await store.write(async (tx) => {
    let offset = start;
    for (const bytes of parts) {
      await appendChunk(tx, { sessionId: team.session.id, agentId: team.agent.id, stream, offset, bytes });
      offset += bytes.length;
    }
  });
}
