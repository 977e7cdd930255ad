import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StreamMessage } from '../src/event-stream.ts';
import { readEventStream } from '../src/event-stream.ts';
import { collect } from './collect.ts';

async function* asyncOf(pieces: string[]): AsyncGenerator<string> {
  yield* pieces;
}

const read = (...pieces: string[]): Promise<StreamMessage[]> => collect(readEventStream(asyncOf(pieces)));

describe('messages', () => {
  test.each<[string, string, StreamMessage[]]>([
    ['nothing', '', []],
    ['data', 'data: a\n\n', [{ id: null, event: 'message', data: 'a' }]],
    ['all fields, in any order', 'data: a\nevent: chunk\nid: 7\n\n', [{ id: '7', event: 'chunk', data: 'a' }]],
    ['several lines of data', 'data: a\ndata:\ndata: b\n\n', [{ id: null, event: 'message', data: 'a\n\nb' }]],
    ['one space after the colon is not data', 'data:a\ndata:  b\n\n', [{ id: null, event: 'message', data: 'a\n b' }]],
    ['colons in the data', 'data: {"a":"b: c"}\n\n', [{ id: null, event: 'message', data: '{"a":"b: c"}' }]],
    ['comments', ': ping\n\n:\n\ndata: a\n: ping\n\n', [{ id: null, event: 'message', data: 'a' }]],
    ['no data', 'event: chunk\nid: 7\n\n', []],
    ['a field without a value', 'data\n\n', [{ id: null, event: 'message', data: '' }]],
    ['unknown fields', 'retry: 5\nfoo: x\ndata: a\n\n', [{ id: null, event: 'message', data: 'a' }]],
    ['a message that has no end', 'data: a\n\ndata: b\n', [{ id: null, event: 'message', data: 'a' }]],
    [
      'an id belongs to its own message',
      'id: 1\ndata: a\n\ndata: b\n\n',
      [
        { id: '1', event: 'message', data: 'a' },
        { id: null, event: 'message', data: 'b' },
      ],
    ],
  ])('%s', async (_name, text, messages) => {
    expect(await read(text)).toEqual(messages);
  });
});

/** A message whose data may have several lines, and how a server writes it. */
const messages = fc.array(
  fc.record({
    id: fc.option(fc.nat().map(String)),
    event: fc.constantFrom('message', 'chunk', 'gap'),
    data: fc.string({ unit: fc.constantFrom('a', 'é', '😀', ':', ' ', '\n', '{') }),
  }),
  { maxLength: 8 },
);
function write({ id, event, data }: StreamMessage): string {
  const lines = data.split('\n').map((line) => `data: ${line}`);
  return [...(id === null ? [] : [`id: ${id}`]), `event: ${event}`, ...lines, '', ''].join('\n');
}

/** Cuts a text at the given places. */
function cut(text: string, places: number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

test('the same messages result however the text is cut', async () => {
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.nat(), { maxLength: 20 }), async (sent, places) => {
      const text = sent.map((message) => `${write(message)}: ping\n\n`).join('');
      expect(await read(...cut(text, places))).toEqual(sent);
    }),
    { numRuns: 300 },
  );
});

test('any text gives the same in one piece and in single characters', async () => {
  const text = fc.string({ unit: fc.constantFrom('\n', ':', 'data', 'id', 'event', ' ', 'x'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      expect(await read(...Array.from(given))).toEqual(await read(given));
    }),
  );
});

test('a message without an end is given up, not collected forever', async () => {
  let pieces = 0;
  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      pieces += 1;
      yield 'x'.repeat(1024 * 1024);
    }
  }
  await expect(collect(readEventStream(endless()))).rejects.toThrow('without an end');
  expect(pieces).toBeLessThan(20);
});
