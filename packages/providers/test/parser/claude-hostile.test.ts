import type { StreamEvent } from '@pawl/schema/stream-event';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseClaudeLine } from '../../src/parser/claude-stream-json.ts';
import { parse, success, oneTurn, successEvents } from './claude-line.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

describe('hostile lines', () => {
  test.each([
    ['', 'nothing'],
    ['plain text', 'plain text'],
    ['{"type":"assistant"', 'a cut line'],
    ['[{"type":"result"}]', 'an array'],
    ['null', 'null'],
    ['"result"', 'a string'],
    ['{"type":"brand_new","detail":1}', 'an unknown type'],
    ['{"error":"no type"}', 'no type'],
    ['{"type":{"a":1}}', 'a type that is no string'],
  ])('%j is kept unchanged', (line) => {
    expect(parseClaudeLine(line)).toEqual([{ type: 'unknown', text: line }]);
  });

  test.each([[null], [5], ['x'], [[1, null, 'x', [[]], {}]], [{ content: null }], [{ content: [null, 5] }]])(
    'a message %j is ignored',
    (given) => {
      expect(parse({ type: 'assistant', message: given })).toEqual([]);
    },
  );

  test('keys named __proto__ or constructor are data', () => {
    const line = '{"__proto__":{"type":"result","session_id":"evil"},"constructor":{"type":"result"},"type":"system"}';
    expect(parseClaudeLine(line)).toEqual([]);
    const inherited = '{"type":"assistant","message":{"__proto__":{"content":"evil"}}}';
    expect(parseClaudeLine(inherited)).toEqual([]);
    expect(({} as Record<string, unknown>)['content']).toBeUndefined();
  });

  test.each([['1e400'], ['1e308'], ['9007199254740993'], ['-1'], ['"12"'], ['null'], ['[]']])(
    'a count of %s is ignored',
    (number) => {
      const line = `{"type":"result","subtype":"success","num_turns":${number},"total_cost_usd":${number},"usage":{"input_tokens":${number},"output_tokens":7}}`;
      const [usage] = parseClaudeLine(line);
      expect(usage).toEqual({
        type: 'usage',
        scope: 'session',
        inputTokens: 0,
        outputTokens: 7,
        cachedTokens: 0,
        costUsd: 0,
        turns: 0,
      });
    },
  );

  test('fractions of tokens are rounded', () => {
    const [usage] = parse({ ...success, num_turns: 1.6, usage: { input_tokens: 0.4, output_tokens: 0.6 } });
    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 1, turns: 2 });
  });

  test('a session id that is unsafe on a command line is ignored', () => {
    for (const id of ['x'.repeat(10_000), '--dangerous', 'a b', 'a\n', '$(x)']) {
      expect(parseClaudeLine(JSON.stringify({ type: 'system', session_id: id }))).toEqual([]);
    }
    expect(parseClaudeLine('{"type":"system","session_id":7}')).toEqual([]);
    expect(parseClaudeLine('{"type":"system","session_id":""}')).toEqual([]);
  });

  test('JSON that is 10,000 deep', () => {
    const deep = '[{"a":'.repeat(10_000) + '1' + '}]'.repeat(10_000);
    const places: [string, StreamEvent[]][] = [
      [`{"type":"assistant","message":${deep}}`, []],
      [`{"type":"assistant","message":{"content":${deep}}}`, []],
      [
        `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"X","input":${deep}}]}}`,
        [{ type: 'tool-call', id: '', name: 'X', input: '' }],
      ],
      [
        `{"type":"user","message":{"content":[{"type":"tool_result","content":${deep}}]}}`,
        [{ type: 'tool-result', id: '', text: '', isError: false }, oneTurn],
      ],
      [`{"type":"stream_event","event":${deep}}`, []],
      [`{"type":"rate_limit_event","rate_limit_info":${deep}}`, []],
    ];
    for (const [line, events] of places) expect(parseClaudeLine(line)).toEqual(events);
    const result = parseClaudeLine(`{"type":"result","subtype":"success","usage":${deep},"errors":${deep}}`).at(-1);
    expect(result).toEqual({ type: 'result', ok: true, text: 'success', fault: null });
  });
});

describe('any line', () => {
  /** The same object with its keys in another order. */
  const shuffled = fc
    .shuffledSubarray(Object.keys(success), { minLength: Object.keys(success).length })
    .map((keys) => JSON.stringify(Object.fromEntries(keys.map((key) => [key, success[key as keyof typeof success]]))));

  test('the order of keys does not matter', () => {
    fc.assert(
      fc.property(shuffled, (line) => {
        expect(parseClaudeLine(line)).toEqual(successEvents);
      }),
    );
  });

  const typed = fc
    .record({
      type: fc.constantFrom('assistant', 'user', 'result', 'system', 'stream_event', 'rate_limit_event'),
      subtype: fc.jsonValue(),
      message: fc.record({
        content: fc.array(
          fc.record({
            type: fc.constantFrom('text', 'tool_use', 'tool_result'),
            id: fc.jsonValue(),
            tool_use_id: fc.jsonValue(),
            text: fc.jsonValue(),
            input: fc.jsonValue(),
            content: fc.jsonValue(),
          }),
        ),
      }),
      event: fc.jsonValue(),
      usage: fc.jsonValue(),
      result: fc.jsonValue(),
      num_turns: fc.jsonValue(),
      rate_limit_info: fc.record({ status: fc.constant('rejected'), resetsAt: fc.jsonValue() }),
    })
    .map((value) => JSON.stringify(value));

  test.each<[string, fc.Arbitrary<string>]>([
    ['any text', anyText],
    ['any JSON', fc.json()],
    ['any object', fc.object().map((value) => JSON.stringify(value))],
    ['known types with anything in them', typed],
  ])('%s gives events of the one vocabulary and never throws', (_name, lines) => {
    fc.assert(
      fc.property(lines, (line) => {
        for (const event of parseClaudeLine(line)) expect(streamEventSchema.safeParse(event).error).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});
