import { noBudget, noUsage } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import {
  breachOf,
  budgetAdvice,
  budgetInForce,
  isLimited,
  tighterBudget,
  withLimits,
} from '../../src/accounts/budget.ts';

const usage = { inputTokens: 700, outputTokens: 200, cachedTokens: 100, costUsd: 1.5, turns: 4 };

test('a budget without limits is never used up', () => {
  expect(isLimited(noBudget)).toBe(false);
  expect(breachOf(noBudget, { usage, minutes: 1e6 })).toBeNull();
});

test.each([
  [{ tokens: 1_000 }, '1000 of 1000 tokens', false],
  [{ turns: 3 }, '4 of 3 turns', true],
  [{ minutes: 0.5 }, '2 of 0.5 minutes', true],
  [{ usd: 1.499 }, '1.5 of 1.5 US dollars', true],
  [{ tokens: 1_000, turns: 3 }, '4 of 3 turns', true],
])('%j is used up', (limit, detail, passed) => {
  expect(isLimited({ ...noBudget, ...limit })).toBe(true);
  expect(breachOf({ ...noBudget, ...limit }, { usage, minutes: 2 })).toEqual({ detail, passed });
});

test('a limit that is not reached does not count, and tokens bound a provider that reports no cost', () => {
  expect(breachOf({ tokens: 1_001, turns: 5, minutes: 3, usd: 2 }, { usage, minutes: 2 })).toBeNull();
  expect(
    breachOf({ ...noBudget, usd: 1, tokens: 10 }, { usage: { ...noUsage, outputTokens: 10 }, minutes: 0 }),
  ).toEqual({
    detail: '10 of 10 tokens',
    passed: false,
  });
});

test('limits fall back to defaults, can be replaced and removed, and never widen for a child', () => {
  const own = { ...noBudget, tokens: 5 };
  expect(budgetInForce(own, { ...noBudget, tokens: 3, turns: 7 })).toEqual({ ...noBudget, tokens: 5, turns: 7 });
  expect(withLimits({ ...own, usd: 2 }, { tokens: 9, usd: null })).toEqual({ ...noBudget, tokens: 9 });
  expect(tighterBudget(own, { tokens: 9, minutes: 4 })).toEqual({ ...own, minutes: 4 });
});

test('the advice names the used-up part, and whose budget it is', () => {
  expect(budgetAdvice('brave-otter', 'agent', '4 of 3 turns')).toContain('pawl resume brave-otter --budget turns=N');
  expect(budgetAdvice('brave-otter', 'agent', '2 of 1 US dollars')).toContain('--budget usd=N');
  expect(budgetAdvice('brave-otter', 'project', '4 of 3 turns')).toContain('budgets.project');
});
