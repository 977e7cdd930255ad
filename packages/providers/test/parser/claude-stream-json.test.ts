import type { StreamEvent } from '@pawl/schema/stream-event';
import { describe, expect, test } from 'vitest';
import { parse, message, success, oneTurn, successEvents } from './claude-line.ts';

/** A call with its whole input in the body. */
function call(id: string, name: string, shown: string, input: object): StreamEvent {
  const parts = [{ type: 'tool-call', id, name, input }];
  return { type: 'tool-call', id, name, input: shown, body: JSON.stringify({ role: 'assistant', parts, author: '' }) };
}

describe('lines that Claude Code prints [S3-46, S3-47, S3-48]', () => {
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
        call('t1', 'Bash', 'echo hello > hello.txt', { command: 'echo hello > hello.txt', timeout: 5 }),
      ],
    ],
    [
      'two tools at once',
      message('assistant', [
        { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.ts' } },
        { type: 'tool_use', id: 't2', name: 'Read', input: { file_path: 'b.ts' } },
      ]),
      [call('t1', 'Read', 'a.ts', { file_path: 'a.ts' }), call('t2', 'Read', 'b.ts', { file_path: 'b.ts' })],
    ],
    ['what it was told', message('user', 'do it'), [{ type: 'echo', text: 'do it' }]],
    [
      'what it was told under a name',
      { ...message('user', 'do it'), uuid: '00000002-1111-4111-8111-111111111111', isReplay: true },
      [{ type: 'echo', text: 'do it', uuid: '00000002-1111-4111-8111-111111111111' }],
    ],
    ['how far a line has come', { type: 'command_lifecycle', command_uuid: 'a', state: 'queued' }, []],
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
      [call('', 'Edit', 'a.ts', { file_path: 'a.ts', old_string: 'x' })],
    ],
    [
      'a tool with other input',
      message('assistant', [{ type: 'tool_use', name: 'Search', input: { query: 'x' } }]),
      [call('', 'Search', '{"query":"x"}', { query: 'x' })],
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

describe('failed ends', () => {
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

  test('text about a limit in a good answer, or another error, is not a limit', () => {
    expect(kinds({ ...success, result: "You've hit your 5-hour limit" })).toEqual(['usage', 'result']);
    expect(kinds({ ...success, is_error: true, api_error_status: 529 })).toEqual(['usage', 'result']);
  });
});

describe('usage', () => {
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

  test('an end before the first answer does not reset what was reported', () => {
    const nothing = { ...success, is_error: true, usage: { input_tokens: 0, output_tokens: 0 } };
    expect(usage({ ...nothing, modelUsage: {} })).toEqual([oneTurn]);
    expect(usage(nothing)).toEqual([oneTurn]);
    expect(usage({ ...nothing, modelUsage: {}, num_turns: 0 })).toEqual([]);
  });

  test('a block of an answer repeats the numbers of its call, so they are not counted', () => {
    const block = { content: [{ type: 'text', text: 'a' }], usage: { input_tokens: 100, output_tokens: 1 } };
    expect(usage({ type: 'assistant', message: block })).toEqual([]);
  });

  test('a message to a subagent is not a turn of the agent', () => {
    const line = message('user', [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }]);
    expect(usage({ ...line, parent_tool_use_id: 't0' })).toEqual([]);
    expect(usage({ ...line, parent_tool_use_id: null })).toEqual([oneTurn]);
  });
});

describe('a wait that the CLI reports', () => {
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
