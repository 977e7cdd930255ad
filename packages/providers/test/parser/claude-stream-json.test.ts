import type { StreamEvent } from '@pawl/schema/stream-event';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseClaudeLine } from '../../src/parser/claude-stream-json.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const sessionId = 'b6f4c1de-0000-4000-8000-000000000001';
const session: StreamEvent = { type: 'session', providerSessionId: sessionId };

/** Parses a line that is made from a value, with the session id every real line carries. */
function parse(value: Record<string, unknown>): StreamEvent[] {
  const [first, ...events] = parseClaudeLine(JSON.stringify({ ...value, session_id: sessionId }));
  expect(first).toEqual(session);
  return events;
}

const message = (role: 'assistant' | 'user', content: unknown) => ({ type: role, message: { role, content } });

const success = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'All done.',
  num_turns: 2,
  total_cost_usd: 0.0114,
  usage: { input_tokens: 30, output_tokens: 84, cache_read_input_tokens: 600, cache_creation_input_tokens: 20 },
  terminal_reason: 'completed',
};
/** One more model call, as what a tool gave leads to. */
const oneTurn: StreamEvent = {
  type: 'usage',
  scope: 'call',
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  costUsd: null,
  turns: 1,
};
const successEvents: StreamEvent[] = [
  {
    type: 'usage',
    scope: 'session',
    inputTokens: 50,
    outputTokens: 84,
    cachedTokens: 600,
    costUsd: 0.0114,
    turns: 2,
  },
  { type: 'result', ok: true, text: 'All done.', fault: null },
];

describe('S3-46, S3-47, S3-48: lines that Claude Code prints', () => {
  test.each<[string, Record<string, unknown>, StreamEvent[]]>([
    ['the first one', { type: 'system', subtype: 'init', tools: ['Bash'], model: 'm', permissionMode: 'default' }, []],
    ['text', message('assistant', [{ type: 'text', text: 'Hello.' }]), [{ type: 'text', text: 'Hello.' }]],
    ['text without blocks', message('assistant', 'Hello.'), [{ type: 'text', text: 'Hello.' }]],
    [
      'thinking, then a tool',
      message('assistant', [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo hello > hello.txt', timeout: 5 } },
      ]),
      [
        { type: 'thinking', text: 'hm' },
        { type: 'tool-call', id: 't1', name: 'Bash', input: 'echo hello > hello.txt' },
      ],
    ],
    [
      'two tools at once',
      message('assistant', [
        { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.ts' } },
        { type: 'tool_use', id: 't2', name: 'Read', input: { file_path: 'b.ts' } },
      ]),
      [
        { type: 'tool-call', id: 't1', name: 'Read', input: 'a.ts' },
        { type: 'tool-call', id: 't2', name: 'Read', input: 'b.ts' },
      ],
    ],
    ['what it was told', message('user', 'do it'), [{ type: 'echo', text: 'do it' }]],
    [
      'what it was told, beside a result',
      message('user', [
        { type: 'text', text: 'and this' },
        { type: 'tool_result', tool_use_id: 't2', content: 'ok', is_error: false },
      ]),
      [{ type: 'echo', text: 'and this' }, { type: 'tool-result', id: 't2', text: 'ok', isError: false }, oneTurn],
    ],
    [
      'a tool whose id is no text',
      message('assistant', [{ type: 'tool_use', id: { a: 1 }, name: 'Stop' }]),
      [{ type: 'tool-call', id: '', name: 'Stop', input: '' }],
    ],
    [
      'a tool on a file',
      message('assistant', [{ type: 'tool_use', name: 'Edit', input: { file_path: 'a.ts', old_string: 'x' } }]),
      [{ type: 'tool-call', id: '', name: 'Edit', input: 'a.ts' }],
    ],
    [
      'a tool with other input',
      message('assistant', [{ type: 'tool_use', name: 'Search', input: { query: 'x' } }]),
      [{ type: 'tool-call', id: '', name: 'Search', input: '{"query":"x"}' }],
    ],
    [
      'a tool without input',
      message('assistant', [{ type: 'tool_use', name: 'Stop' }]),
      [{ type: 'tool-call', id: '', name: 'Stop', input: '' }],
    ],
    [
      'a tool result as a string',
      message('user', [{ type: 'tool_result', tool_use_id: 't1', content: 'ok\n' }]),
      [{ type: 'tool-result', id: 't1', text: 'ok\n', isError: false }, oneTurn],
    ],
    [
      'a tool result as blocks',
      message('user', [
        {
          type: 'tool_result',
          is_error: true,
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: {} },
            { type: 'text', text: 'b' },
          ],
        },
      ]),
      [{ type: 'tool-result', id: '', text: 'a\n\nb', isError: true }, oneTurn],
    ],
    [
      'a piece of text',
      { type: 'stream_event', event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hel' } } },
      [{ type: 'text-delta', text: 'Hel' }],
    ],
    [
      'another piece',
      { type: 'stream_event', event: { type: 'content_block_delta', delta: { type: 'input_json_delta' } } },
      [],
    ],
    ['the start of a message', { type: 'stream_event', event: { type: 'message_start', message: {} } }, []],
    [
      'a retry',
      { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, retry_delay_ms: 1000, error_status: 429 },
      [{ type: 'retry', text: 'the provider retries' }],
    ],
    ['a good end', success, successEvents],
  ])('%s', (_name, line, events) => {
    expect(parse(line)).toEqual(events);
  });
});

describe('ends that are not good', () => {
  const kinds = (value: Record<string, unknown>) => parse(value).map((event) => event.type);

  test.each<[string, Record<string, unknown>, string]>([
    ['is_error', { is_error: true }, 'All done.'],
    ['another subtype', { subtype: 'error_during_execution', result: undefined }, 'error_during_execution'],
    [
      'errors',
      { subtype: 'error', result: undefined, errors: ['No conversation found', 'b'] },
      'No conversation found\nb',
    ],
  ])('%s', (_name, given, text) => {
    expect(parse({ ...success, ...given }).at(-1)).toEqual({ type: 'result', ok: false, text, fault: null });
  });

  test.each<[string, Record<string, unknown>]>([
    ['the status of the API', { api_error_status: 429, result: 'API Error: Request rejected (429)' }],
    ['a limit of hours', { result: "You've hit your 5-hour limit · resets 5:41am (UTC)" }],
    ['a limit without a name', { result: "You've hit your limit · resets 5:41am (UTC)" }],
    ['an empty account', { result: 'Credit balance is too low', api_error_status: 400 }],
  ])('a usage limit: %s', (_name, given) => {
    const events = parse({ ...success, is_error: true, ...given });
    expect(events.find((event) => event.type === 'limit')).toEqual({ type: 'limit', until: null });
    expect(events.at(-1)).toMatchObject({ type: 'result', fault: 'limit' });
  });

  test.each<[string, Record<string, unknown>, string | null]>([
    ['overload', { api_error_status: 529, result: 'API Error: 529 Overloaded' }, 'transient'],
    ['an error of the server', { api_error_status: 500, result: 'x' }, 'transient'],
    ['a connection', { api_error_status: null, result: 'API Error: Connection to the API was lost' }, 'transient'],
    ['a key', { api_error_status: 401, result: 'x' }, 'auth'],
    ['a right', { api_error_status: 403, result: 'x' }, 'auth'],
    ['a login', { result: 'Not logged in · Please run /login' }, 'auth'],
    ['too much', { api_error_status: 400, result: 'Prompt is too long' }, 'other'],
    ['anything else', { result: 'it went wrong' }, null],
  ])('the kind of error: %s', (_name, given, fault) => {
    const events = parse({ ...success, is_error: true, ...given });
    expect(events.at(-1)).toMatchObject({ type: 'result', ok: false, fault });
    expect(events.some(({ type }) => type === 'limit')).toBe(false);
  });

  test('words about a limit in a good answer, or another error, are no limit', () => {
    expect(kinds({ ...success, result: "You've hit your 5-hour limit" })).toEqual(['usage', 'result']);
    expect(kinds({ ...success, is_error: true, api_error_status: 529 })).toEqual(['usage', 'result']);
  });
});

describe('what was used', () => {
  const models = {
    small: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 4, cacheCreationInputTokens: 8 },
    large: { inputTokens: 100, outputTokens: 200, cacheReadInputTokens: 400, cacheCreationInputTokens: 800 },
  };
  const usage = (value: Record<string, unknown>) => parse(value).filter(({ type }) => type === 'usage');

  test('sums over the models are those of the conversation; its turns are counted one by one', () => {
    expect(usage({ ...success, modelUsage: models })).toEqual([
      {
        type: 'usage',
        scope: 'conversation',
        inputTokens: 909,
        outputTokens: 202,
        cachedTokens: 404,
        costUsd: 0.0114,
        turns: null,
      },
      oneTurn,
    ]);
  });

  test('an end before the first answer tells nothing that could take back what was told', () => {
    const nothing = { ...success, is_error: true, usage: { input_tokens: 0, output_tokens: 0 } };
    expect(usage({ ...nothing, modelUsage: {} })).toEqual([oneTurn]);
    expect(usage(nothing)).toEqual([oneTurn]);
    expect(usage({ ...nothing, modelUsage: {}, num_turns: 0 })).toEqual([]);
  });

  test('a block of an answer repeats the numbers of its call, so they are not counted', () => {
    const block = { content: [{ type: 'text', text: 'a' }], usage: { input_tokens: 100, output_tokens: 1 } };
    expect(usage({ type: 'assistant', message: block })).toEqual([]);
  });

  test('what a helper of the agent is told is no turn of its own', () => {
    const line = message('user', [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }]);
    expect(usage({ ...line, parent_tool_use_id: 't0' })).toEqual([]);
    expect(usage({ ...line, parent_tool_use_id: null })).toEqual([oneTurn]);
  });
});

describe('a wait that the CLI tells of', () => {
  test.each([
    [60_000, { type: 'limit', until: null }],
    [59_999, { type: 'retry', text: 'the provider retries' }],
    ['120000', { type: 'retry', text: 'the provider retries' }],
  ])('of %j', (delayMs, event) => {
    expect(parse({ type: 'system', subtype: 'retry', data: { attempt: 1, delayMs } })).toEqual([event]);
  });
});

describe('rate limits', () => {
  const limit = (info: unknown) => parse({ type: 'rate_limit_event', rate_limit_info: info });

  test('a rejection with its end', () => {
    const info = { status: 'rejected', resetsAt: 1_794_721_264, rateLimitType: 'five_hour' };
    expect(limit(info)).toEqual([{ type: 'limit', until: 1_794_721_264_000 }]);
  });

  test.each([[undefined], [null], ['soon'], [0], [-5], [1e300], [{}]])('a rejection with an end of %j', (resetsAt) => {
    expect(limit({ status: 'rejected', resetsAt })).toEqual([{ type: 'limit', until: null }]);
  });

  test.each([[{ status: 'allowed_warning', resetsAt: 5 }], [null], ['rejected'], [[]]])('no rejection: %j', (info) => {
    expect(limit(info)).toEqual([]);
  });
});

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
  ])('%j is kept as it was', (line) => {
    expect(parseClaudeLine(line)).toEqual([{ type: 'unknown', text: line }]);
  });

  test.each([[null], [5], ['x'], [[1, null, 'x', [[]], {}]], [{ content: null }], [{ content: [null, 5] }]])(
    'a message %j says nothing',
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
    'a count of %s is none',
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

  test('a session id that could not stand in a command line is none', () => {
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
