import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';
import { createTranscript } from '../../src/agents/transcript.ts';

/** The rows of a transcript, each with a line feed after its last part. */
function shown(...chunks: StreamEvent[][]): string {
  const transcript = createTranscript();
  const parts = chunks.flatMap((events, id) =>
    transcript.add({ id, sessionNo: 1, stream: 'stdout', offset: 0, at: 0, events }),
  );
  let text = '';
  for (const { line, continues, isOpen } of parts) {
    if (!continues && text !== '' && !text.endsWith('\n')) text += '\n';
    text += line.map((span) => span.text).join('') + (isOpen ? '' : '\n');
  }
  return text.endsWith('\n') ? text : `${text}\n`;
}

const delta = (text: string): StreamEvent => ({ type: 'text-delta', text });
const whole = (text: string): StreamEvent => ({ type: 'text', text });
const result: StreamEvent = { type: 'result', ok: true, text: 'x', fault: null };

test('text in pieces is shown once, as it arrives', () => {
  expect(shown([delta('Hel')], [delta('lo')], [whole('Hello')], [result])).toBe('Hello\n■ turn ended\n');
});

test('the rest of an incompletely streamed text is added', () => {
  expect(shown([delta('Hel')], [whole('Hello there')])).toBe('Hello there\n');
});

test('a different final text is shown whole', () => {
  expect(shown([delta('Hel')], [whole('Goodbye')])).toBe('Hel\nGoodbye\n');
});

test('pieces without a final text are one text', () => {
  const part = (text: string): StreamEvent => ({ type: 'text', text, piece: true });
  expect(shown([part('Hel'), part('lo')], [part(' there'), result])).toBe('Hello there\n■ turn ended\n');
});

test('consecutive texts, and a tool in between, each get their own line', () => {
  const tool: StreamEvent = { type: 'tool-call', id: 't', name: 'Bash', input: 'ls' };
  expect(shown([delta('a'), whole('a'), tool, delta('b'), whole('b')])).toBe('a\n▸ Bash ls\nb\n');
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

test('a part names its time, its kind and the tone of its text', () => {
  const events: StreamEvent[] = [
    { type: 'tool-call', id: 't', name: 'Bash', input: 'ls' },
    { type: 'tool-result', id: 't', text: 'no such file\n', isError: true },
    { type: 'thinking', text: 'hm' },
    { type: 'result', ok: false, text: 'out of money', fault: null },
  ];
  const parts = createTranscript().add({ id: 1, sessionNo: 1, stream: 'stdout', offset: 0, at: 7, events });
  expect(parts.map(({ at, kind, line }) => [at, kind, line.at(-1)?.tone])).toEqual([
    [7, 'tool-call', 'plain'],
    [7, 'tool-result', 'bad'],
    [7, 'thinking', 'muted'],
    [7, 'result', 'bad'],
  ]);
});

test('nothing in a piece would act on a terminal', () => {
  const text = shown([delta('a\u001B]52;c;eA==\u0007b')]);
  for (const control of ['\u001B', '\u0007']) expect(text).not.toContain(control);
});
