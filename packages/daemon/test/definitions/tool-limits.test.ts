import { toolLimits } from '@pawl/daemon/definitions/tool-limits';
import { gateArgument } from '@pawl/daemon/definitions/gate-argument';
import { scriptedPreset } from '@pawl/providers/scripted';
import type { Definition } from '@pawl/schema/definition';
import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';

const flags = { allow: ['--tools', '{tools}'], deny: ['--no-tools', '{tools}'] };
const none = { tools: null, hook: null, access: { full: [], ask: null, readOnly: null } };
const readOnly = { ...none, access: { full: ['--full'], ask: null, readOnly: ['--read-only'] } };
const hook = ['--settings', '{file}'];

const ask = (given: Partial<Definition>, able: object) => {
  const definition = { id: 'x', tools: ['*'], deniedTools: [], toolGate: 'hard', ...given } as unknown as Definition;
  return toolLimits(definition, { ...scriptedPreset(['agent'], '/state'), name: 'cli', ...none, ...able }, ['probe']);
};

describe('a limit is enforced by the provider’s own means [7.19]', () => {
  const reading = ['Read', 'Grep', 'Glob'];

  test.each<[string, Partial<Definition>, object, object]>([
    ['no limit', {}, none, { allowed: null, denied: [], readOnly: false, hook: false, enforcement: 'none' }],
    [
      'flags',
      { tools: ['Read', 'Bash(git:*)'] },
      { tools: flags },
      { allowed: ['Read', 'Bash(git:*)'], denied: [], readOnly: false, hook: false, enforcement: 'hard' },
    ],
    [
      'flags and a hook: the flags name whole tools, and each MCP server is denied when none is listed',
      { tools: ['Read', 'Bash(git log:*)', 'Bash(git diff:*)'], deniedTools: ['Read(.env)'] },
      { tools: flags, hook },
      { allowed: ['Read', 'Bash'], denied: ['Read(.env)', 'mcp__probe__*'], hook: true, enforcement: 'hard' },
    ],
    [
      'flags and a hook: MCP tools that are listed',
      { tools: ['Read', 'mcp__forge__*'] },
      { tools: flags, hook },
      { allowed: ['Read', 'mcp__forge__*'], denied: [], hook: true },
    ],
    ['flags: no tool at all', { tools: [] }, { tools: flags }, { allowed: [], enforcement: 'hard' }],
    [
      'flags: only denied ones',
      { deniedTools: ['Bash'] },
      { tools: flags, hook },
      { allowed: null, denied: ['Bash'], hook: true, enforcement: 'hard' },
    ],
    ['a hook alone', { tools: ['Edit'] }, { hook }, { hook: true, readOnly: false, enforcement: 'hook' }],
    [
      'flags, and reading only',
      { tools: reading },
      { ...readOnly, tools: flags },
      { readOnly: true, enforcement: 'hard' },
    ],
    ['flags, and the web', { tools: ['Read', 'WebFetch'] }, { ...readOnly, tools: flags }, { readOnly: false }],
    ['reading and the web', { tools: ['Read', 'WebFetch'] }, readOnly, { readOnly: true, enforcement: 'read-only' }],
    ['flags, and writing', { tools: ['Read', 'Edit'] }, { ...readOnly, tools: flags }, { readOnly: false }],
    ['reading only', { tools: reading }, readOnly, { allowed: reading, readOnly: true, enforcement: 'read-only' }],
    ['reading only, but no shell', { tools: reading, deniedTools: ['Bash'] }, readOnly, { enforcement: 'read-only' }],
    ['no enforcement', { tools: ['Edit'], toolGate: 'advisory' }, none, { readOnly: false, enforcement: 'advisory' }],
    [
      'as advice, where it can be enforced',
      { tools: reading, toolGate: 'advisory' },
      readOnly,
      { enforcement: 'read-only' },
    ],
  ])('%s', (_what, definition, able, expected) => {
    expect(ask(definition, able)).toMatchObject(expected);
  });

  test('an agent without a definition has no limit', () => {
    expect(toolLimits(null, scriptedPreset(['agent'], '/state')).enforcement).toBe('none');
  });

  test.each<[string, Partial<Definition>, object]>([
    ['nothing', { tools: reading }, none],
    ['nothing, and a tool is denied', { deniedTools: ['Bash'] }, none],
    ['reading, and it may write', { tools: ['Read', 'Edit'] }, readOnly],
    ['reading, and it may use a shell', { tools: ['Read', 'Bash(git:*)'] }, readOnly],
    ['reading, and it may read a part only', { tools: ['Read(src/*)'] }, readOnly],
    ['reading, and it may search only', { tools: ['Grep'] }, readOnly],
    ['reading, and it may do nothing', { tools: [] }, readOnly],
    ['reading, and a part is denied', { tools: reading, deniedTools: ['Read(.env)'] }, readOnly],
    ['reading, and a way to read is denied', { tools: reading, deniedTools: ['Grep'] }, readOnly],
    ['reading, and it has all but a shell', { deniedTools: ['Bash'] }, readOnly],
    ['reading, and it has an MCP server', { tools: ['Read', 'mcp__forge__*'] }, readOnly],
  ])('refused if the provider can enforce %s [invariant 18]', (_what, definition, able) => {
    expect(() => ask(definition, able)).toThrow(
      expect.objectContaining({ code: 'conflict', hint: expect.stringContaining('toolGate: advisory') }),
    );
    expect(ask({ ...definition, toolGate: 'advisory' }, able).enforcement).toBe('advisory');
  });
});

describe('the argument of a call, as limits name it', () => {
  test.each([
    ['Read', '/wt/src/a.ts', 'src/a.ts'],
    ['Read', 'src/./b/../a.ts', 'src/a.ts'],
    ['Write', '/wt/../etc/x', '/etc/x'],
    ['Edit', '../wt2/x', '/wt2/x'],
    ['read_file', './a', 'a'],
    ['Grep', '/wt', '.'],
    ['Write', '/wt/..a', '..a'],
    ['Read', '~/.ssh/id', `${homedir()}/.ssh/id`],
    ['Bash', 'cat /wt/a', 'cat /wt/a'],
    ['WebFetch', 'https://a/../b', 'https://a/../b'],
  ])('%s %s', (tool, input, about) => {
    expect(gateArgument('/wt', tool, input)).toBe(about);
  });

  test('an agent without a worktree, and a call without an argument', () => {
    expect(gateArgument(null, 'Read', '/wt/a')).toBe('/wt/a');
    expect(gateArgument('/wt', 'Grep', undefined)).toBeUndefined();
  });
});
