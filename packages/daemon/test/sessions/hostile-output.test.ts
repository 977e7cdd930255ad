import type { OutputFormat } from '@pawl/core/port/provider';
import type { Line } from '@pawl/host/output/lines';
import { createLineSplitter } from '@pawl/host/output/lines';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import { streamEventSchema } from '@pawl/schema/stream-event';
import { sampleOf } from '@pawl/testing/endurance';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The size of the hostile output, and how much memory may remain in use after it. */
const corpusBytes = 20 * 1024 * 1024;
const growthBytes = 160 * 1024 * 1024;
const megabyte = 1024 * 1024;

const formats = Object.keys(outputParsers) as OutputFormat[];

/** Reproducible pseudo-random numbers. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const types = (
  'assistant user result system stream_event rate_limit_event session message_end agent_end turn.completed turn.failed ' +
  'item.completed step_finish tool_use error init run_result agent_event session.error assistant.message tool_result text'
).split(' ');

/** One hostile line of each kind; `next` returns numbers below its argument. */
const kinds: ((next: (below: number) => number) => Buffer)[] = [
  // Terminal sequences, NUL, carriage returns, and a line that tries to look like ours behind them.
  (next) => Buffer.from(`\u001b[2J\u001b]0;owned\u0007\0\r{"type":"${types[next(types.length)]}"}\u009b31m`),
  // Invalid UTF-8.
  (next) => Buffer.from(Array.from({ length: 200 }, () => next(256)).filter((byte) => byte !== 0x0a)),
  // Bombs: as deep as a line may be, and too many of everything.
  (next) => Buffer.from(`{"type":"${types[next(types.length)]}","message":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  () => Buffer.from(`{"type":"user","message":{"content":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}}`),
  () => Buffer.from(`{${'"k":1,'.repeat(10_000)}"type":"result"}`),
  () => Buffer.from(`{"type":"assistant","message":{"content":[${'{"type":"text","text":"x"},'.repeat(5_000)}1]}}`),
  () => Buffer.from(`{"type":"result","num_turns":${'9'.repeat(40_000)},"usage":{"input_tokens":1e99999}}`),
  // Prototypes, duplicate keys, halves of characters, cut lines.
  (next) =>
    Buffer.from(`{"__proto__":{"type":"result","polluted":1},"type":"${types[next(types.length)]}","type":"x"}`),
  (next) =>
    Buffer.from(`{"type":"${types[next(types.length)]}","session_id":"--\\ud800","data":{"message":"\\udfff"}}`),
  (next) => Buffer.from(`{"type":"${types[next(types.length)]}","part":{"text":"${'x'.repeat(next(3_000))}`),
  // Sessions, numbers and texts with invalid content.
  (next) =>
    Buffer.from(
      JSON.stringify({
        type: types[next(types.length)],
        session_id: [],
        item: { type: 'command_execution', id: 7, aggregated_output: null },
        event: { type: 'content_end', contentType: 'tool', output: [null, 5, { result: {} }] },
        part: { reason: 'stop', tokens: { input: -1, cache: 'x' }, state: [] },
        usage: { input_tokens: '1', total_tokens: {} },
        error: { data: { statusCode: '429', message: [] } },
        message: { role: 'assistant', content: [{ type: 'tool_use', input: { command: 5 } }, null] },
      }),
    ),
];

function hostileOutput(): Buffer {
  const next = chance(7);
  const parts: Buffer[] = [];
  let bytes = 0;
  while (bytes < corpusBytes) {
    // Large ones are rare, so that there are many lines, too.
    const kind = kinds[next(40) === 0 ? next(kinds.length) : ([0, 1, 7, 8, 9, 10][next(6)] ?? 0)];
    const line = Buffer.concat([kind?.(next) ?? Buffer.alloc(0), Buffer.from(next(9) === 0 ? '\r\n' : '\n')]);
    parts.push(line);
    bytes += line.length;
  }
  return Buffer.concat(parts);
}

/** Memory in use after a garbage collection. */
let settledMemory: () => number;

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  settledMemory = () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
});

afterAll(() => setFlagsFromString('--no-expose-gc'));

/** Splits bytes that come in pieces of odd sizes. */
function* linesOf(bytes: Buffer): Generator<Line> {
  const next = chance(3);
  const splitter = createLineSplitter({ maxLineBytes: limits.lineBytes });
  for (let at = 0; at < bytes.length;) {
    const size = 1 + next(limits.chunkBytes);
    yield* splitter.push(bytes.subarray(at, at + size));
    at += size;
  }
  yield* splitter.end();
}

describe('20 MB of hostile output', () => {
  let output: Buffer;
  let lineCount = 0;
  beforeAll(() => {
    output = hostileOutput();
    for (let at = output.indexOf(0x0a); at !== -1; at = output.indexOf(0x0a, at + 1)) lineCount++;
  });

  test.each(sampleOf(formats, 3))(
    'through the parser of %s: nothing thrown, every event valid, memory bounded',
    (format) => {
      const { parse } = outputParsers[format];
      const before = settledMemory();
      let lines = 0;
      let events = 0;
      let resident = process.memoryUsage.rss();
      const residentBefore = resident;
      for (const { text, oversized } of linesOf(output)) {
        lines++;
        if (oversized) expect(text).toBe('');
        for (const event of parse(text)) {
          events++;
          if (!streamEventSchema.safeParse(event).success) expect(event).toBeUndefined();
        }
        if (lines % 1_000 === 0) resident = Math.max(resident, process.memoryUsage.rss());
      }
      expect(lines).toBe(lineCount);
      expect(events).toBeGreaterThan(lines / 2);
      expect(settledMemory() - before).toBeLessThan(8 * megabyte);
      expect(resident - residentBefore).toBeLessThan(growthBytes);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );
});

test('a line of 50 MB is marked, and never held in memory', () => {
  const before = settledMemory();
  const piece = Buffer.alloc(64 * 1024, '{"a":[');
  const splitter = createLineSplitter({ maxLineBytes: limits.lineBytes });
  let most = 0;
  for (let sent = 0; sent < 50 * megabyte; sent += piece.length) {
    expect(splitter.push(piece)).toEqual([]);
    if (sent % (10 * megabyte) === 0) most = Math.max(most, settledMemory() - before);
  }
  const [line, ...rest] = splitter.push(Buffer.from('\n{"type":"result","subtype":"success","result":"after"}\n'));
  expect(line?.oversized).toBe(true);
  expect(line?.text.length).toBeLessThan(limits.lineBytes);
  expect(rest.flatMap(({ text }) => outputParsers['claude-stream-json'].parse(text)).at(-1)).toMatchObject({
    type: 'result',
    ok: true,
  });
  expect(most).toBeLessThan(4 * megabyte);
});

test.each(sampleOf(formats, 3))('bombs as large as a line may be, for %s', (format) => {
  const { parse } = outputParsers[format];
  const half = limits.lineBytes / 2 - 50;
  const before = settledMemory();
  for (const [type, key] of [
    ['assistant', 'message'],
    ['item.completed', 'item'],
    ['agent_end', 'messages'],
  ] as const) {
    const events = parse(`{"type":"${type}","${key}":${'['.repeat(half)}${']'.repeat(half)}}`);
    for (const event of events) expect(streamEventSchema.safeParse(event).success).toBe(true);
  }
  expect(settledMemory() - before).toBeLessThan(8 * megabyte);
});
