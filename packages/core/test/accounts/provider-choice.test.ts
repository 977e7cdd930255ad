import { namedProvider, onlyInstalled } from '@pawl/core/accounts/provider-choice';
import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';

const known = [
  { name: 'claude', install: 'npm install -g @anthropic-ai/claude-code' },
  { name: 'codex', install: 'npm install -g @openai/codex' },
  { name: 'scripted', install: null },
];

function refusal(act: () => unknown): PawlError {
  try {
    act();
  } catch (error) {
    if (error instanceof PawlError) return error;
  }
  throw new Error('nothing was refused');
}

test('the first given name counts, and none is null', () => {
  expect(namedProvider([undefined, null, 'codex', 'claude'])).toBe('codex');
  expect(namedProvider([undefined, null])).toBeNull();
});

test('the only installed coding agent is chosen', () => {
  expect(onlyInstalled(known.slice(1, 2), known)).toBe('codex');
});

test('several are refused with their names and the ways to choose', () => {
  const { code, message, hint, details } = refusal(() => onlyInstalled(known.slice(0, 2), known));
  expect([code, details]).toEqual(['no_provider', { installed: ['claude', 'codex'] }]);
  expect(message).toContain('claude, codex');
  for (const way of ['--provider claude', 'pawl init --provider claude', 'pawl config set provider claude'])
    expect(hint).toContain(way);
});

test('without a provider, the error says how to install one and mentions the scripted one', () => {
  const { code, hint, details } = refusal(() => onlyInstalled([], known));
  expect([code, details]).toEqual(['no_provider', { installed: [] }]);
  expect(hint).toContain('npm install -g @openai/codex (codex)');
  expect(hint).toContain('--provider scripted');
});
