import { expect, test } from 'vitest';
import { readUsage } from '../../src/count/usage-reader.ts';
import { usageReport } from '../../src/count/usage-report.ts';

const stream = 'text/event-stream; charset=utf-8';

/** Streams events in pieces of a few bytes, as a network may. */
function counted(events: object[], bytes = 7) {
  const text = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const reader = readUsage(stream);
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += bytes) reader.push(all.subarray(at, at + bytes));
  return reader.end(400);
}

test('counts a stream of Anthropic’s messages: the last report of each number counts', () => {
  const start = { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 };
  const events = [
    { type: 'message_start', message: { id: 'ü', usage: start } },
    { type: 'content_block_delta', delta: { text: 'usage of words' } },
    { type: 'message_delta', usage: { output_tokens: 42 } },
  ];
  expect(counted(events)).toEqual({ input: 15, cached: 100, output: 42 });
});

test('counts OpenAI’s responses and chat completions, whose input includes cached tokens', () => {
  const usage = { input_tokens: 120, input_tokens_details: { cached_tokens: 20 }, output_tokens: 9 };
  expect(counted([{ type: 'response.completed', response: { usage } }])).toEqual({ input: 100, cached: 20, output: 9 });
  const chat = { prompt_tokens: 50, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 10 } };
  expect(
    counted([
      { choices: [], usage: null },
      { choices: [], usage: chat },
    ]),
  ).toEqual({ input: 40, cached: 10, output: 3 });
});

test('counts Gemini’s totals, as events and as an array', () => {
  const first = { usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 1 } };
  const last = {
    usageMetadata: {
      promptTokenCount: 30,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 10,
    },
  };
  expect(counted([first, last])).toEqual({ input: 20, cached: 10, output: 7 });
  const reader = readUsage('application/json');
  reader.push(Buffer.from(JSON.stringify([first, last])));
  expect(reader.end(0)).toEqual({ input: 20, cached: 10, output: 7 });
});

test('estimates a stream without numbers, such as one that was cut', () => {
  const reader = readUsage(stream);
  reader.push(Buffer.alloc(400, 'x'));
  expect(reader.end(4_000)).toEqual({ input: 1_000, cached: 0, output: 100 });
});

test('counts nothing for other answers, hostile numbers and broken JSON', () => {
  const list = readUsage('application/json');
  list.push(Buffer.from('{"data":[{"id":"model"}]}'));
  expect(list.end(0)).toBeNull();
  const broken = readUsage('application/json');
  broken.push(Buffer.from('{"usage":'));
  expect(broken.end(0)).toBeNull();
  expect(usageReport({ usage: { input_tokens: -5, output_tokens: 'many', prompt_tokens: 1e99 } })).toEqual({});
  expect(usageReport('usage')).toBeNull();
});
