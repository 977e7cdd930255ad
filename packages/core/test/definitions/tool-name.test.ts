import { expect, test } from 'vitest';
import { canonicalTool, normalEntry, normalTools } from '../../src/definitions/tool-name.ts';

test.each([
  ['read', 'Read'],
  ['READ_FILE', 'Read'],
  ['readFile', 'Read'],
  ['write_file', 'Write'],
  ['shell', 'Bash'],
  ['run_shell_command', 'Bash'],
  ['search', 'Grep'],
  ['find', 'Glob'],
  ['apply_patch', 'Edit'],
  ['multi_edit', 'MultiEdit'],
  ['notebook_edit', 'NotebookEdit'],
  ['web-fetch', 'WebFetch'],
  ['google_web_search', 'WebSearch'],
  ['Agent', 'Task'],
  [' bash ', 'Bash'],
  ['TodoWrite', 'TodoWrite'],
  ['MCP__Forge__merge', 'mcp__Forge__merge'],
  ['mcp__x__read_file', 'mcp__x__read_file'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
])('the tool %s is canonically %s [4.2.12]', (called, canonical) => {
  expect(canonicalTool(called)).toBe(canonical);
});

test.each([
  ['*', '*'],
  ['shell(git:*)', 'Bash(git:*)'],
  ['Bash(*)', 'Bash'],
  ['Bash(:*)', 'Bash'],
  ['Task(plan, search)', 'Task(plan, search)'],
  ['mcp__forge', 'mcp__forge__*'],
  ['mcp__forge__*', 'mcp__forge__*'],
  ['mcp__*', 'mcp__*'],
  ['mcp__forge__merge', 'mcp__forge__merge'],
])('the entry %s normalises to %s', (written, normal) => {
  expect(normalEntry(written)).toBe(normal);
});

test.each(['', '(x)', 'Read*', 'Note*', 'Bash()', '**', 'Read Write', '-x', 'Bash(x'])(
  'the entry %j is refused',
  (written) => {
    expect(() => normalEntry(written)).toThrow(/has "/);
  },
);

test('a list names each tool once, and nothing besides `*`', () => {
  expect(normalTools(['read_file', 'Read', 'view', 'Bash'])).toEqual(['Read', 'Bash']);
  expect(normalTools(['Read', '*'])).toEqual(['*']);
  expect(normalTools([])).toEqual([]);
});
