import { judgeRequest } from '@pawl/core/rules/judge-request';
import type { Approval } from '@pawl/schema/approval/approval';
import { expect, test } from 'vitest';
import { askedRequestOf } from '../../src/approvals/rule-request.ts';

const worktree = '/work/tree';

/** Judges a tool call by one rule, as if every path led where it says. */
function judge(effect: 'allow' | 'deny', match: string, call: { kind: Approval['kind']; tool: string; input: object }) {
  const { kind, tool, input } = call;
  const { paths, ...asked } = askedRequestOf({ kind, tool, detail: JSON.stringify(input), cwd: worktree } as Approval);
  const real = paths?.map((given) => ({ given, real: given.startsWith('/') ? given : `${worktree}/${given}` }));
  return judgeRequest([{ effect, match }], { ...asked, worktree, ...(real === undefined ? {} : { paths: real }) })
    .effect;
}

test.each<[string, object, string]>([
  ['alone', { command: 'npm test' }, 'allow'],
  ['with a description', { command: 'npm test', description: 'tests', timeout: 1_000 }, 'allow'],
  ['in another directory', { command: 'npm test', cwd: '/tmp/evil' }, 'ask'],
  ['in another working directory', { command: 'npm test', workdir: '..' }, 'ask'],
  ['with variables', { command: 'npm test', env: { NODE_OPTIONS: '-r ./evil' } }, 'ask'],
  ['outside of the CLI’s sandbox', { command: 'npm test', dangerouslyDisableSandbox: true }, 'ask'],
  ['as a list of words', { command: ['npm', 'test'] }, 'allow'],
  ['as one word that looks like it', { command: ['npm test'] }, 'ask'],
])('an allowed command %s', (_name, input, effect) => {
  expect(judge('allow', 'command npm test', { kind: 'command', tool: 'Bash', input })).toBe(effect);
});

test('a denied command is found in a list of words, and in one with other fields', () => {
  const calls = [{ command: ['git', 'push', '--force'] }, { command: 'git push', env: { A: 'b' } }];
  for (const input of calls) {
    expect(judge('deny', 'command git push', { kind: 'command', tool: 'Bash', input })).toBe('deny');
  }
});

test.each<[string, object, string]>([
  ['Glob', { pattern: '**/*.ts', path: 'src' }, 'allow'],
  ['Glob', { pattern: '/etc/**', path: 'src' }, 'ask'],
  ['Glob', { pattern: '../../**', path: 'src' }, 'ask'],
  ['Glob', { pattern: '{a,../b}/**', path: 'src' }, 'ask'],
  ['Grep', { pattern: '^/etc', path: 'src' }, 'allow'],
  ['Grep', { pattern: 'x', glob: '~/**', path: 'src' }, 'ask'],
])('a search with %s %j is judged with its pattern', (tool, input, effect) => {
  expect(judge('allow', `tool ${tool} src/**`, { kind: 'tool', tool, input: { ...input, path: 'src/a' } })).toBe(
    effect,
  );
});

test('a moved file is judged by its source and its destination', () => {
  const move = (to: string) => ({ changes: [{ path: 'src/a.ts', move_path: to }] });
  const call = (to: string) => ({ kind: 'file' as const, tool: 'Edit', input: move(to) });
  expect(judge('allow', 'tool Edit src/**', call('src/b.ts'))).toBe('allow');
  expect(judge('allow', 'tool Edit src/**', call('.github/b.ts'))).toBe('ask');
  expect(judge('deny', 'tool Edit .github/**', call('.github/b.ts'))).toBe('deny');
});
