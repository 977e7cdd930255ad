import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { checkDelegation, checkMayFork, intersectTools, mayAct, mayUseTool } from '../../src/definitions/gate.ts';
import { aDefinition, workAccess } from './fixture.ts';

test.each([
  [['*'], 'anything', true],
  [['*'], 'mcp__forge__merge', true],
  [[], 'Read', false],
  [['Read'], 'Read', true],
  [['Read'], 'read_file', true],
  [['Read'], 'READ', true],
  [['Read'], 'Write', false],
  [['Read'], '*', false],
  [['Read'], '', false],
  [['Bash'], 'shell', true],
  [['mcp__forge__*'], 'mcp__forge__merge', true],
  [['mcp__forge__*'], 'MCP__FORGE__merge', true],
  [['mcp__forge__*'], 'mcp__forgery__merge', false],
  [['mcp__forge__list'], 'mcp__forge__merge', false],
  [['mcp__*'], 'mcp__any__thing', true],
  [['mcp__*'], 'Read', false],
  [['Read'], 'mcp__files__Read', false],
  // Pawl's own verbs need not be listed; the daemon authorises each.
  [['Read'], 'mcp__pawl__send', true],
  [[], 'MCP__Pawl__whoami', true],
  [['Read'], 'mcp__pawlx__send', false],
  [['Read'], 'mcp__pawl', false],
] as [string[], string, boolean][])('with %j the tool %j is allowed: %s [S2-16, 4.2.12]', (tools, name, expected) => {
  expect(mayUseTool(aDefinition({ tools }), name)).toBe(expected);
});

test('denied tools win, under any of their names [S2-16]', () => {
  const definition = aDefinition({ tools: ['*'], deniedTools: ['Bash', 'mcp__forge__*', 'WebFetch'] });
  for (const name of ['Bash', 'bash', 'shell', 'run_command', 'mcp__forge__merge', 'web_fetch']) {
    expect(mayUseTool(definition, name)).toBe(false);
  }
  expect(mayUseTool(definition, 'Read')).toBe(true);
  expect(mayUseTool(aDefinition({ tools: ['*'], deniedTools: ['*'] }), 'Read')).toBe(false);
  // This applies to Pawl's own verbs, too.
  for (const deniedTools of [['mcp__pawl__fork'], ['mcp__pawl__*'], ['mcp__*'], ['*']])
    expect(mayUseTool(aDefinition({ tools: ['*'], deniedTools }), 'mcp__pawl__fork')).toBe(false);
});

test('a limited entry allows arguments that begin as it says, and no unknown ones [S2-16]', () => {
  const definition = aDefinition({ tools: ['Read', 'Bash(git:*)'], deniedTools: ['Bash(git push:*)'] });
  expect(mayUseTool(definition, 'shell', 'git log')).toBe(true);
  expect(mayUseTool(definition, 'Bash', 'git push origin')).toBe(false);
  expect(mayUseTool(definition, 'Bash', 'rm -rf x')).toBe(false);
  expect(mayUseTool(definition, 'Bash')).toBe(false);
  expect(mayUseTool(aDefinition({ tools: ['Bash'], deniedTools: ['Bash(rm:*)'] }), 'Bash')).toBe(false);
});

test.each([
  [['*'], ['Read'], ['Read']],
  [['Read'], ['*'], ['Read']],
  [['*'], ['*'], ['*']],
  [['Read', 'Bash'], ['Bash', 'Write'], ['Bash']],
  [['Read'], [], []],
  [['Bash'], ['Bash(git:*)'], ['Bash(git:*)']],
  [['Bash(git:*)'], ['Bash'], ['Bash(git:*)']],
  [['Bash(git:*)'], ['Bash(git log:*)', 'Bash(npm:*)'], ['Bash(git log:*)']],
  [['Bash(git:*)'], ['Bash(git status)', 'Bash(git log $x)'], ['Bash(git status)']],
  [['mcp__forge__*'], ['mcp__forge__list', 'mcp__other__list'], ['mcp__forge__list']],
  [['mcp__forge__list'], ['mcp__*'], ['mcp__forge__list']],
] as [string[], string[], string[]][])('the intersection of %j and %j is %j', (one, other, both) => {
  expect(intersectTools(one, other)).toEqual(both);
});

test('only the actions of the policy are allowed [S2-17]', () => {
  const definition = aDefinition({ policy: { allow: ['Patch'], delegateTargets: [] } });
  expect(mayAct(definition, 'Patch')).toBe(true);
  expect(mayAct(definition, 'Finalize')).toBe(false);
  expect(mayAct(definition, 'Delegate')).toBe(false);
});

/** The text of a refusal, or null. */
function refusalOf(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'forbidden' || error.hint === undefined) throw error;
    return error.message;
  }
}

test('delegation is refused with the first applicable reason [W2-07]', () => {
  const delegate = (kind: 'main' | 'subagent', allow: ('Patch' | 'Delegate')[], delegateTargets: string[] = []) =>
    refusalOf(() =>
      checkDelegation(workAccess, { kind, definition: aDefinition({ policy: { allow, delegateTargets } }) }, 'Search'),
    );
  expect(delegate('subagent', [])).toMatch(/subagent.*delegation depth is 1/);
  expect(delegate('subagent', ['Delegate'], ['plan'])).toMatch(/delegation depth is 1/);
  expect(delegate('main', [], ['plan'])).toMatch(/needs Delegate, and its policy is empty/);
  expect(delegate('main', ['Patch'], ['plan'])).toMatch(/needs Delegate, and its policy has only Patch\.$/);
  expect(delegate('main', ['Delegate'], ['plan', 'test'])).toMatch(/plan, test/);
  expect(delegate('main', ['Delegate'], ['plan', 'search'])).toBeNull();
  expect(delegate('main', ['Delegate'])).toBeNull();
});

test('every verb refuses a subagent with the same words [S2-13, S2-14]', () => {
  const fork = refusalOf(() => checkMayFork('subagent'));
  const definition = aDefinition({ policy: { allow: ['Delegate'], delegateTargets: [] } });
  expect(fork).toBe('A subagent cannot create agents (delegation depth is 1).');
  expect(refusalOf(() => checkDelegation(workAccess, { kind: 'subagent', definition }, 'x'))).toBe(fork);
  expect(refusalOf(() => checkMayFork('main'))).toBeNull();
});
