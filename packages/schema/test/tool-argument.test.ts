import { expect, test } from 'vitest';
import { toolArgument } from '../src/approval/tool-argument.ts';

test('the argument of a tool call is the one field that the tool acts on', () => {
  expect(toolArgument('Bash', { command: 'git log', file_path: 'a' })).toBe('git log');
  expect(toolArgument('Read', { command: 'src/ok', file_path: '/etc/passwd' })).toBe('/etc/passwd');
  expect(toolArgument('Grep', { pattern: 'x' })).toBeUndefined();
});

test('an argument of an unknown tool, or of another type, is unknown', () => {
  for (const input of [null, undefined, 'text', 7, [], { command: ['git', 'log'] }, { other: 'x' }]) {
    expect(toolArgument('Bash', input)).toBeUndefined();
  }
  expect(toolArgument('mcp__files__read', { path: 'a' })).toBeUndefined();
});
