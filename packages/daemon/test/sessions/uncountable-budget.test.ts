import { refuseUncountable } from '@pawl/daemon/platform/budgets';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { expect, test } from 'vitest';

const presets = builtInPresets({
  scriptedAgent: ['true'],
  bridge: ['true'],
  engine: ['node', 'e'],
  engineState: '/engine',
  scriptedState: '/nowhere',
});
const refused = (budget: object, proxy = false) =>
  presets.filter((preset) => {
    try {
      refuseUncountable(preset, budget, { proxy });
      return false;
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid_input' });
      return true;
    }
  });
const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).toSorted();

test('a budget in tokens is refused only if the CLI reports no tokens', () => {
  expect(names(refused({ tokens: 1_000 }))).toEqual(['aider', 'continue', 'copilot', 'generic']);
  // The proxy counts the tokens of those that take an API key.
  expect(names(refused({ tokens: 1_000 }, true))).toEqual(['generic']);
  expect(names(refused({ turns: 3, minutes: 5 }))).toEqual([]);
  expect(names(refused({ tokens: null, usd: null }))).toEqual([]);
});

test('a refusal names the supported limits', () => {
  const copilot = presets.find(({ name }) => name === 'copilot') ?? null;
  const words = (budget: object) => {
    try {
      refuseUncountable(copilot, budget, { proxy: false });
      return '';
    } catch (error) {
      return `${(error as Error).message} ${(error as { hint?: string }).hint}`;
    }
  };
  expect(words({ tokens: 5 })).toBe(
    'copilot does not report token usage, so a budget in tokens would have no effect. Set one in turns or minutes.',
  );
  expect(words({ usd: 5 })).toBe(
    'copilot does not report its cost, so a budget in money would have no effect. Set one in turns or minutes.',
  );
});
