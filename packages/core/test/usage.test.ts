import { noUsage } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import { totalUsage, usageAfter } from '../src/usage.ts';

const report = { type: 'usage', inputTokens: 100, outputTokens: 20, cachedTokens: 60, costUsd: 0.5, turns: 3 } as const;
const { type: _type, ...reported } = report;
const earlier = { inputTokens: 40, outputTokens: 5, cachedTokens: 10, costUsd: 0.25, turns: 1 };

test('a report for the session is the session’s, whatever was before', () => {
  expect(usageAfter(report, 'session', earlier)).toEqual(reported);
});

test('a sum over the conversation has the earlier sessions taken off', () => {
  const own = { inputTokens: 60, outputTokens: 15, cachedTokens: 50, costUsd: 0.25, turns: 2 };
  expect(usageAfter(report, 'conversation', earlier)).toEqual(own);
  expect(usageAfter(report, 'conversation')).toEqual(reported);
});

test('a sum that shrank counts as nothing, never below', () => {
  expect(usageAfter({ type: 'usage', ...noUsage }, 'conversation', earlier)).toEqual(noUsage);
});

test('a total adds every column, and of nothing is nothing', () => {
  expect(totalUsage([])).toEqual(noUsage);
  const total = { inputTokens: 140, outputTokens: 25, cachedTokens: 70, costUsd: 0.75, turns: 4 };
  expect(totalUsage([reported, earlier])).toEqual(total);
});
