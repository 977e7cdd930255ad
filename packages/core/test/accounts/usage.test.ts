import { noUsage } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { expect, test } from 'vitest';
import { totalUsage, usageAfter } from '../../src/accounts/usage.ts';

const numbers = { inputTokens: 100, outputTokens: 20, cachedTokens: 60, costUsd: 0.5, turns: 3 };
const earlier = { inputTokens: 40, outputTokens: 5, cachedTokens: 10, costUsd: 0.25, turns: 1 };
const fresh = { usage: noUsage, reported: null };

type Report = Extract<StreamEvent, { type: 'usage' }>;
const report = (scope: Report['scope'], given: Partial<Report> = {}): Report => ({
  type: 'usage',
  scope,
  ...numbers,
  ...given,
});

test('per-call numbers add up, and a process total replaces them', () => {
  const twice = usageAfter(usageAfter(fresh, report('call')), report('call'));
  expect(twice).toEqual({ usage: totalUsage([numbers, numbers]), reported: null });
  expect(usageAfter(twice, report('session'))).toEqual({ usage: numbers, reported: null });
});

test('a session total ignores earlier sessions', () => {
  expect(usageAfter(fresh, report('session'), earlier)).toEqual({ usage: numbers, reported: null });
});

test('a conversation total has earlier reports subtracted, and is remembered as reported', () => {
  const own = { inputTokens: 60, outputTokens: 15, cachedTokens: 50, costUsd: 0.25, turns: 2 };
  expect(usageAfter(fresh, report('conversation'), earlier)).toEqual({ usage: own, reported: numbers });
  expect(usageAfter(fresh, report('conversation'))).toEqual({ usage: numbers, reported: numbers });
});

test('a report of the cost alone leaves the other numbers unchanged', () => {
  const tokens = usageAfter(fresh, report('session', { costUsd: null }), earlier);
  const cost = { inputTokens: null, outputTokens: null, cachedTokens: null, turns: null };
  expect(usageAfter(tokens, report('conversation', cost), earlier)).toEqual({
    usage: { ...numbers, costUsd: 0.25 },
    reported: { ...earlier, costUsd: 0.5 },
  });
});

test('a total that shrank counts as zero, never below', () => {
  expect(usageAfter(fresh, report('conversation', noUsage), earlier).usage).toEqual(noUsage);
});

test('a total adds every column, and nothing adds up to zero', () => {
  expect(totalUsage([])).toEqual(noUsage);
  const total = { inputTokens: 140, outputTokens: 25, cachedTokens: 70, costUsd: 0.75, turns: 4 };
  expect(totalUsage([numbers, earlier])).toEqual(total);
});
