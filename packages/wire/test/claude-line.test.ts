import { expect, test } from 'vitest';
import type { ClaudeLine } from '../src/claude-line.ts';
import {
  assistantLine,
  callUsageLines,
  controlResponseLine,
  echoLine,
  initLine,
  inSession,
  noTokens,
  rateLimitLine,
  resultLine,
  retryLine,
  summaryLine,
  textDeltaLine,
  toolResultLine,
  withMessage,
} from '../src/claude-line.ts';
import { parseLine } from '../src/claude-parser.ts';

/** The events of a line, as whoever reads it sees them. */
const read = (line: ClaudeLine) =>
  parseLine(JSON.stringify(line), (status, text) => (status === 429 || text.includes('limit') ? 'limit' : 'other'));

const numbers = { durationMs: 12, messages: 2, costUsd: null, usage: noTokens() };

test.each([
  ['a text', assistantLine({ type: 'text', text: 'hi' }, { model: 'm' }), [{ type: 'text', text: 'hi' }]],
  [
    'a thought',
    assistantLine({ type: 'thinking', thinking: 'hm', signature: '' }, { model: null }),
    [{ type: 'thinking', text: 'hm' }],
  ],
  [
    'a tool call',
    assistantLine({ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }, { model: 'm' }),
    [
      {
        type: 'tool-call',
        id: 't',
        name: 'Bash',
        input: 'ls',
        body: '{"role":"assistant","parts":[{"type":"tool-call","id":"t","name":"Bash","input":{"command":"ls"}}],"author":""}',
      },
    ],
  ],
  [
    'a part of an answer of the engine',
    withMessage(assistantLine({ type: 'text', text: 'hi' }, { model: 'm' }), { answer: 'a1' }),
    [{ type: 'text', text: 'hi', answer: 'a1' }],
  ],
  [
    'the last part, with the whole answer',
    withMessage(assistantLine({ type: 'tool_use', id: 't', name: 'Bash', input: {} }, { model: 'm' }), {
      answer: 'a1',
      message: { role: 'assistant', parts: [], author: 'v/m' },
    }),
    [
      {
        type: 'tool-call',
        id: 't',
        name: 'Bash',
        input: '{}',
        answer: 'a1',
        body: '{"role":"assistant","parts":[],"author":"v/m"}',
      },
    ],
  ],
  ['a summary', summaryLine('We spoke.'), [{ type: 'summary', text: 'We spoke.' }]],
  ['a piece of text', textDeltaLine('h'), [{ type: 'text-delta', text: 'h' }]],
  ['echoed input', echoLine({ text: 'do it', uuid: 'u' }), [{ type: 'echo', text: 'do it', uuid: 'u' }]],
  ['echoed input without an id', echoLine({ text: 'do it', uuid: null }), [{ type: 'echo', text: 'do it' }]],
  ['a limit with its end', rateLimitLine(1_700_000_000), [{ type: 'limit', until: 1_700_000_000_000 }]],
  ['a limit without an end', rateLimitLine(null, 'five_hour'), [{ type: 'limit', until: null }]],
  ['a retry', retryLine('busy', 1, 1_000), [{ type: 'retry', text: 'the provider retries (busy)' }]],
  [
    'the first line',
    inSession(initLine({ cwd: '/', model: null }), 's-1'),
    [{ type: 'session', providerSessionId: 's-1' }],
  ],
])('%s is read as it was written', (_, line, events) => {
  expect(read(line)).toEqual(events);
});

test('a tool result is read with the model call that follows it', () => {
  expect(read(toolResultLine('t', 'no such file', true))).toMatchObject([
    { type: 'tool-result', id: 't', text: 'no such file', isError: true },
    { type: 'usage', scope: 'call', turns: 1 },
  ]);
});

test('the usage of a call is read once', () => {
  const lines = callUsageLines({
    input_tokens: 5,
    cache_creation_input_tokens: 2,
    cache_read_input_tokens: 3,
    output_tokens: 7,
  });
  expect(lines.flatMap(read)).toMatchObject([
    { type: 'usage', scope: 'call', inputTokens: 7, cachedTokens: 3, outputTokens: null },
    { type: 'usage', scope: 'call', outputTokens: 7, inputTokens: null },
  ]);
});

test('the end of a turn is read with its fault', () => {
  const ok = resultLine({ subtype: 'success', isError: false, text: 'done' }, numbers);
  expect(read(ok).at(-1)).toEqual({ type: 'result', ok: true, text: 'done', fault: null });
  const limited = resultLine({ subtype: 'success', isError: true, text: 'no', apiErrorStatus: 429 }, numbers);
  expect(read(limited).map(({ type }) => type)).toEqual(['usage', 'limit', 'result']);
  const broken = resultLine(
    { subtype: 'error_during_execution', isError: true, text: '', errors: ['a', 'b'] },
    numbers,
  );
  expect(read(broken).at(-1)).toEqual({ type: 'result', ok: false, text: 'a\nb', fault: 'other' });
});

test('unknown values are left out of the JSON', () => {
  const lines = [
    resultLine({ subtype: 'success', isError: false, text: '' }, numbers),
    echoLine({ text: '', uuid: null }),
    rateLimitLine(null),
    initLine({ cwd: '/', model: 'm' }),
    inSession(textDeltaLine(''), ''),
    controlResponseLine('r', null),
  ].map((line) => JSON.stringify(line));
  for (const name of ['total_cost_usd', 'errors', 'uuid', 'resetsAt', 'permissionMode', 'session_id', '"error"'])
    expect(lines.filter((line) => line.includes(name))).toEqual([]);
});

test('a control request is answered by its id', () => {
  expect(controlResponseLine('r', null)).toMatchObject({ response: { subtype: 'success', request_id: 'r' } });
  expect(controlResponseLine('r', 'no')).toMatchObject({
    response: { subtype: 'error', request_id: 'r', error: 'no' },
  });
});
