import type { Shown } from '@pawl/daemon/sessions/ingest/batch';
import { beginSpeech, show } from '@pawl/daemon/sessions/ingest/show';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';

const secret = 'sk-0123456789abcdef';

function shownOf(events: StreamEvent[]): Shown[] {
  const speech = beginSpeech([secret]);
  const shown: Shown[] = [];
  for (const event of events) show(speech, event, undefined, shown);
  return shown.filter(({ type }) => type !== 'status');
}

test('pieces are joined, and the whole text follows as a message [S2-20]', () => {
  const delta = (text: string): StreamEvent => ({ type: 'text-delta', text });
  expect(shownOf([delta('a'), delta('b'), { type: 'text', text: 'ab' }])).toEqual([
    { type: 'token', text: 'ab' },
    { type: 'message', text: 'ab' },
  ]);
});

test('a text that only comes in pieces becomes a message when it ends', () => {
  const piece = (text: string): StreamEvent => ({ type: 'text', text, piece: true });
  const usage: StreamEvent = {
    type: 'usage',
    scope: 'call',
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    costUsd: 0,
    turns: 1,
  };
  const result: StreamEvent = { type: 'result', ok: true, text: '', fault: null };
  expect(shownOf([piece('one '), usage, piece('two'), result])).toEqual([
    { type: 'token', text: 'one two' },
    { type: 'message', text: 'one two' },
  ]);
});

test('a secret that spans pieces is masked in tokens and in the message', () => {
  const parts = ['the key is ', secret.slice(0, 7), secret.slice(7, 12), `${secret.slice(12)}.`];
  const events = parts.map((text): StreamEvent => ({ type: 'text', text, piece: true }));
  const text = JSON.stringify(shownOf([...events, { type: 'result', ok: true, text: '', fault: null }]));
  expect(text).not.toContain(secret);
  expect(text).not.toContain(secret.slice(7));
  expect(text).toContain('the key is ');
});

test('a status is shown once in a batch, and again in the next one', () => {
  const speech = beginSpeech([]);
  const text: StreamEvent = { type: 'text', text: 'hello' };
  const [one, next]: Shown[][] = [[], []];
  for (const batch of [one, one, next]) show(speech, text, undefined, batch as Shown[]);
  expect(one?.map(({ type }) => type)).toEqual(['status', 'message', 'message']);
  expect(next?.map(({ type }) => type)).toEqual(['status', 'message']);
});
