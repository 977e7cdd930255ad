import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';
import { createLogView } from '../../src/view/log-view.ts';
import { palette } from '../../src/terminal/terminal.ts';

/** What a person reads of these events, without the times. */
function shown(...chunks: StreamEvent[][]): string {
  let text = '';
  const view = createLogView(palette({ isTTY: false }), (part) => (text += part));
  for (const [index, events] of chunks.entries())
    view.show({ id: index, sessionNo: 1, stream: 'stdout', offset: 0, at: 0, events });
  view.end();
  return text.replaceAll(/^\d\d:\d\d:\d\d /gm, '');
}

const delta = (text: string): StreamEvent => ({ type: 'text-delta', text });
const whole = (text: string): StreamEvent => ({ type: 'text', text });
const result: StreamEvent = { type: 'result', ok: true, text: 'x', fault: null };

test('text that came in pieces is shown once, and as it comes', () => {
  expect(shown([delta('Hel')], [delta('lo')], [whole('Hello')], [result])).toBe('Hello\n■ turn ended\n');
});

test('of a text whose end was not seen in pieces, the rest is added', () => {
  expect(shown([delta('Hel')], [whole('Hello there')])).toBe('Hello there\n');
});

test('another text than was begun is shown whole', () => {
  expect(shown([delta('Hel')], [whole('Goodbye')])).toBe('Hel\nGoodbye\n');
});

test('pieces of a text that never comes whole are one text', () => {
  const part = (text: string): StreamEvent => ({ type: 'text', text, piece: true });
  expect(shown([part('Hel'), part('lo')], [part(' there'), result])).toBe('Hello there\n■ turn ended\n');
});

test('two texts in a row, and a tool in between, each stand on their own line', () => {
  const tool: StreamEvent = { type: 'tool-call', id: 't', name: 'Bash', input: 'ls' };
  expect(shown([delta('a'), whole('a'), tool, delta('b'), whole('b')])).toBe('a\n▸ Bash ls\nb\n');
});

test('every text, tool and end begins with its time [S3-75]', () => {
  let text = '';
  const view = createLogView(palette({ isTTY: false }), (part) => (text += part));
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const tool: StreamEvent = { type: 'tool-call', id: 't', name: 'Bash', input: 'ls' };
  view.show({ id: 1, sessionNo: 1, stream: 'stdout', offset: 0, at, events: [whole('a'), tool, result] });
  expect(text).toBe('03:04:05 a\n03:04:05 ▸ Bash ls\n03:04:05 ■ turn ended\n');
});

test('tokens and money are shown as they are used', () => {
  const call: StreamEvent = {
    type: 'usage',
    scope: 'call',
    inputTokens: 1_000,
    outputTokens: 42,
    cachedTokens: 500,
    costUsd: null,
    turns: 1,
  };
  const cost: StreamEvent = {
    type: 'usage',
    scope: 'conversation',
    inputTokens: null,
    outputTokens: null,
    cachedTokens: null,
    costUsd: 0.0228,
    turns: null,
  };
  expect(shown([call, cost])).toBe('· 1.5k in, 42 out\n· $0.0228 in this conversation\n');
});

test('nothing in a piece reaches the terminal as a command', () => {
  const text = shown([delta('a\u001B]52;c;eA==\u0007b')]);
  for (const control of ['\u001B', '\u0007']) expect(text).not.toContain(control);
});
