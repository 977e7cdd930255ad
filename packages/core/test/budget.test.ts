import { noBudget, noUsage } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import { breachOf, isLimited } from '../src/budget.ts';

const usage = { inputTokens: 700, outputTokens: 200, cachedTokens: 100, costUsd: 1.5, turns: 4 };

test('a budget without limits is never used up', () => {
  expect(isLimited(noBudget)).toBe(false);
  expect(breachOf(noBudget, { usage, minutes: 1e6 })).toBeNull();
});

test.each([
  [{ tokens: 1_000 }, '1000 of 1000 tokens'],
  [{ turns: 3 }, '4 of 3 turns'],
  [{ minutes: 0.5 }, '2 of 0.5 minutes'],
  [{ usd: 1.499 }, '1.5 of 1.5 US dollars'],
])('%j is used up', (limit, words) => {
  expect(isLimited({ ...noBudget, ...limit })).toBe(true);
  expect(breachOf({ ...noBudget, ...limit }, { usage, minutes: 2 })).toBe(words);
});

test('a limit that is not reached does not count, and a provider that tells no cost is held by its tokens', () => {
  expect(breachOf({ tokens: 1_001, turns: 5, minutes: 3, usd: 2 }, { usage, minutes: 2 })).toBeNull();
  expect(breachOf({ ...noBudget, usd: 1, tokens: 10 }, { usage: { ...noUsage, outputTokens: 10 }, minutes: 0 })).toBe(
    '10 of 10 tokens',
  );
});
