import { logSeq, nextLiveSeq, runtimeSeq } from '@pawl/core/runtime/runtime-seq';
import { createLiveFeed } from '@pawl/daemon/runtime/live-feed';
import type { LiveFeed } from '@pawl/daemon/runtime/live-feed';
import { openRuntimeReader } from '@pawl/daemon/runtime/runtime-stream';
import type { Platform } from '@pawl/daemon/platform/platform';
import { expect, test } from 'vitest';

const nobody = { agentId: null, projectId: null };
const token = (text: string) => ({ type: 'Token', agent_id: 'a', token: text }) as const;

/** A reader of a feed alone: the log is empty after `seq`, and nothing has a project. */
function readerOf(live: LiveFeed, known: number | undefined, seq = 7) {
  const events = {
    lastSeq: () => seq,
    read: async () => [],
    next: async () => ({ events: [], seq }),
  };
  return openRuntimeReader({ platform: {} as Platform, events, live }, {}, known).reader;
}

const shown = (events: readonly object[]) =>
  events.map((event) => ('token' in event ? String(event.token) : 'type' in event ? String(event.type) : ''));
const signal = new AbortController().signal;

test('a reader that is too slow is told to look again, and goes on with what is left [W2-18]', async () => {
  const live = createLiveFeed(() => 7, 4);
  const reader = readerOf(live, undefined);
  live.publish(nobody, token('one'));
  expect(shown(await reader.next(signal))).toEqual(['one']);
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) live.publish(nobody, token(text));
  const events = await reader.next(signal);
  expect(shown(events)[0]).toBe('StateUpdated');
  expect(shown(events).at(-1)).toBe('f');
  expect(shown(events)).not.toContain('a');
  expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((one, other) => one - other));
  live.publish(nobody, token('g'));
  expect(shown(await reader.next(signal))).toEqual(['g']);
});

test('a client of the last daemon is told to look again, since what was not stored is gone [W2-18]', async () => {
  const live = createLiveFeed(() => 7);
  const reader = readerOf(live, runtimeSeq(5, 1_003));
  expect(shown(await reader.next(signal))).toEqual(['StateUpdated']);
});

test('a client that missed nothing is not told to look again', async () => {
  const live = createLiveFeed(() => 7);
  live.publish(nobody, token('one'));
  live.publish(nobody, token('two'));
  const known = live.after(0)[0]?.seq ?? 0;
  expect(shown(await readerOf(live, known).next(signal))).toEqual(['two']);
});

test('several state updates about one agent are one', async () => {
  const live = createLiveFeed(() => 7);
  const reader = readerOf(live, undefined);
  live.publish(nobody, { type: 'StateUpdated' });
  live.publish(nobody, token('x'));
  live.publish(nobody, { type: 'StateUpdated' });
  expect(shown(await reader.next(signal))).toEqual(['x', 'StateUpdated']);
});

test('numbers rise over stored and other events, and keep the number of the log [S2-21]', () => {
  const first = nextLiveSeq(7, 0) ?? 0;
  expect(first).toBeGreaterThan(runtimeSeq(7, 9));
  expect(nextLiveSeq(7, first)).toBe(first + 1);
  expect(nextLiveSeq(8, first)).toBeGreaterThan(runtimeSeq(8, 0));
  expect([logSeq(first), logSeq(runtimeSeq(8, 0))]).toEqual([7, 8]);
  // There are only so many between two events of the log; more are not sent.
  expect(nextLiveSeq(7, runtimeSeq(8, 0) - 1)).toBeNull();
  expect(Number.isSafeInteger(runtimeSeq(800_000_000, 9_999_999))).toBe(true);
});
