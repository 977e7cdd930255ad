import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';
import { createLogView } from '../../src/view/log-view.ts';
import { palette } from '../../src/terminal/palette.ts';

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

test('text in pieces is shown once, as it arrives', () => {
  expect(shown([delta('Hel')], [delta('lo')], [whole('Hello')], [result])).toBe('Hello\n■ turn ended\n');
});

test('every text, tool and end starts with its time [S3-75]', () => {
  let text = '';
  const view = createLogView(palette({ isTTY: false }), (part) => (text += part));
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime();
  const tool: StreamEvent = { type: 'tool-call', id: 't', name: 'Bash', input: 'ls' };
  view.show({ id: 1, sessionNo: 1, stream: 'stdout', offset: 0, at, events: [whole('a'), tool, result] });
  expect(text).toBe('03:04:05 a\n03:04:05 ▸ Bash ls\n03:04:05 ■ turn ended\n');
});

test('the result of a tool is indented', () => {
  expect(shown([{ type: 'tool-result', id: 't', text: 'a\nb\n', isError: false }])).toBe('  a\n  b\n');
});

test('an unfinished line ends with the view', () => {
  expect(shown([delta('Hel')])).toBe('Hel\n');
});
