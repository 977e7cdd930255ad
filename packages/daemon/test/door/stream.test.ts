import type { Event } from '@pawl/schema/event';
import { waitUntil } from '@pawl/testing/wait-until';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** Follows the log until `done` returns true, and returns the events. */
async function follow(after: number, done: (events: Event[]) => boolean, query: { agent?: string } = {}) {
  const stopping = new AbortController();
  const events: Event[] = [];
  const gaps: number[] = [];
  for await (const message of daemon.client.followEvents(after, query, stopping.signal)) {
    if (message.type === 'gap') gaps.push(message.lastSeq);
    else events.push(message.event);
    if (done(events) || gaps.length > 0) break;
  }
  stopping.abort();
  return { events, gaps };
}

test('two clients see the same events, each once, in order; a third replays them from any id', async () => {
  const { lastSeq } = await daemon.client.daemon();
  const isEnd = (events: Event[]) => events.at(-1)?.type === 'run.ended';
  const live = [follow(lastSeq, isEnd), follow(lastSeq, isEnd)];
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  const [first, second] = await Promise.all(live);
  expect(first?.events.map((event) => event.seq)).toEqual(
    Array.from({ length: first?.events.length ?? 0 }, (_, index) => lastSeq + 1 + index),
  );
  expect(second?.events).toEqual(first?.events);
  const replay = await follow(lastSeq + 3, isEnd);
  expect(replay.events).toEqual(first?.events.slice(3));
  const own = await follow(0, isEnd, { agent: agent.id });
  expect(new Set(own.events.map((event) => event.agentId))).toEqual(new Set([agent.id]));
});

test('a client ahead of the log is told of the gap', async () => {
  const { gaps } = await follow(1_000_000, () => false);
  expect(gaps).toEqual([(await daemon.client.daemon()).lastSeq]);
});

test('output is streamed from any chunk on and ends with the agent [S3-74]', async () => {
  const agent = await daemon.work([{ flood: { lines: 2_000 } }, { say: 'the last words' }, 'complete']);
  const chunks: { id: number; content?: string | undefined }[] = [];
  for await (const message of daemon.client.followOutput(agent.id, {}))
    if (message.type === 'chunk') chunks.push(message.chunk);
  const text = chunks.map((chunk) => chunk.content).join('');
  expect(text).toContain('the last words');
  expect(chunks.map((chunk) => chunk.id)).toEqual(chunks.map((chunk) => chunk.id).toSorted((a, b) => a - b));
  const later: number[] = [];
  for await (const message of daemon.client.followOutput(agent.id, { after: chunks[0]?.id ?? 0 }))
    if (message.type === 'chunk') later.push(message.chunk.id);
  expect(later).toEqual(chunks.slice(1).map((chunk) => chunk.id));
  const seen: string[] = [];
  for await (const message of daemon.client.followOutput(agent.id, { format: 'events' })) {
    if (message.type === 'chunk') seen.push(...(message.chunk.events ?? []).map((event) => event.type));
  }
  expect(seen.at(-1)).toBe('result');
});

test('a client that never reads blocks no other and costs little [W3-01]', async () => {
  const token = readFileSync(daemon.home.token, 'utf8').trim();
  const idle = connect(daemon.port, '127.0.0.1');
  idle.on('error', () => {});
  const agent = await daemon.work([{ flood: { lines: 40_000, bytes: 500 } }, 'complete']);
  idle.write(
    `GET /api/agents/${agent.id}/output HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  idle.pause();
  const before = process.memoryUsage.rss();
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  let bytes = 0;
  for await (const message of daemon.client.followOutput(agent.id, {}))
    if (message.type === 'chunk') bytes += message.chunk.content?.length ?? 0;
  expect(bytes).toBeGreaterThan(40_000 * 500);
  expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
  idle.destroy();
  await waitUntil(async () => (await daemon.client.daemon()).trouble === null, { what: 'the daemon to answer' });
});
