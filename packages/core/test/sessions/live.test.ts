import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';
import { liveState } from '../../src/sessions/live.ts';

const rows: [StreamEvent, LiveState | null][] = [
  [
    { type: 'thinking', text: '\nfirst\nsecond' },
    { live: 'thinking', detail: 'first' },
  ],
  [
    { type: 'tool-call', id: 't1', name: 'Bash', input: 'ls\n-l' },
    { live: 'calling_tool', detail: 'Bash ls', tool: 'Bash' },
  ],
  [
    { type: 'tool-call', id: 't1', name: 'Stop', input: '' },
    { live: 'calling_tool', detail: 'Stop', tool: 'Stop' },
  ],
  [
    { type: 'text', text: 'hello' },
    { live: 'working', detail: 'hello' },
  ],
  [
    { type: 'text-delta', text: 'hel' },
    { live: 'working', detail: 'writing' },
  ],
  [
    { type: 'text', text: 'hel', piece: true },
    { live: 'working', detail: 'writing' },
  ],
  [
    { type: 'tool-result', id: 't1', text: 'secret', isError: true },
    { live: 'working', detail: 'read a tool result' },
  ],
  [
    { type: 'retry', text: 'the provider retries' },
    { live: 'working', detail: 'the provider retries' },
  ],
  [
    { type: 'limit', until: 5 },
    { live: 'idle', detail: 'usage limit reached' },
  ],
  [
    { type: 'result', ok: true, text: 'done', fault: null },
    { live: 'idle', detail: 'turn ended' },
  ],
  [{ type: 'session', providerSessionId: 'x' }, null],
  [{ type: 'echo', text: 'what it was told' }, null],
  [{ type: 'usage', scope: 'call', inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0, turns: 1 }, null],
  [{ type: 'unknown', text: '{"type":"new"}' }, null],
];

test.each(rows)('%j', (event, expected) => {
  expect(liveState(event)).toEqual(expected);
});

test('a long line is cut', () => {
  const state = liveState({ type: 'text', text: 'a'.repeat(1_000_000) });
  expect(state?.detail).toBe(`${'a'.repeat(119)}…`);
});
