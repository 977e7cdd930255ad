import { judgeRequest } from '@pawl/core/rules/judge-request';
import { resolvePaths } from '@pawl/daemon/rules/request-paths';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** A worktree beside files that an agent must not reach. */
function places() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-rules-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const worktree = join(root, 'tree');
  for (const directory of ['tree/src/deep', 'tree/secret', 'outside', 'tree-2'])
    mkdirSync(join(root, directory), { recursive: true });
  for (const file of ['tree/src/a', 'tree/secret/key', 'outside/key', 'tree-2/a']) writeFileSync(join(root, file), '');
  return { root, worktree };
}

async function judge(worktree: string, path: string): Promise<string> {
  const rules = [
    { effect: 'allow' as const, match: 'tool Write src/**' },
    { effect: 'deny' as const, match: 'tool Write secret/**' },
  ];
  const paths = await resolvePaths(worktree, [path]);
  return judgeRequest(rules, { kind: 'file', tool: 'Write', paths, cwd: worktree, worktree }).effect;
}

test.each([
  ['src/a', 'allow'],
  ['./src//a', 'allow'],
  ['src/new', 'allow'],
  ['src/new/deeper/file', 'allow'],
  ['src/../src/a', 'allow'],
  ['secret/key', 'deny'],
  ['src/../secret/new', 'deny'],
  ['../outside/key', 'ask'],
  ['src/../../tree-2/a', 'ask'],
  ['/etc/passwd', 'ask'],
  ['~/x', 'ask'],
  ['src/missing/../a', 'ask'],
  ['src/a/', 'ask'],
  ['src/a\0b', 'ask'],
  ['', 'ask'],
])('%j is %s', async (path, effect) => {
  expect(await judge(places().worktree, path)).toBe(effect);
});

test('a link is judged by the place where it leads', async () => {
  const { root, worktree } = places();
  const link = (target: string, name: string) => symlinkSync(target, join(worktree, name));
  link('../outside', 'src/out');
  link(join(root, 'outside/key'), 'src/file');
  link('../secret', 'src/in');
  link('file', 'src/chain');
  link('loop', 'src/loop');
  link('../../outside/created', 'src/dangling');
  link('deep', 'src/fine');
  link('deep/../../secret', 'src/dots');
  expect(await judge(worktree, 'src/out/key')).toBe('ask');
  expect(await judge(worktree, 'src/out/new')).toBe('ask');
  expect(await judge(worktree, 'src/file')).toBe('ask');
  expect(await judge(worktree, 'src/chain')).toBe('ask');
  expect(await judge(worktree, 'src/loop')).toBe('ask');
  // A write would create the file outside.
  expect(await judge(worktree, 'src/dangling')).toBe('ask');
  expect(await judge(worktree, 'src/in/key')).toBe('deny');
  expect(await judge(worktree, 'src/in/new')).toBe('deny');
  expect(await judge(worktree, 'src/dots/key')).toBe('deny');
  expect(await judge(worktree, 'src/fine/new')).toBe('allow');
});

test('“..” after a link leaves the place where the link leads, not the one where it is', async () => {
  const { worktree } = places();
  symlinkSync('deep', join(worktree, 'src/link'));
  symlinkSync('../../outside', join(worktree, 'src/away'));
  expect(await resolvePaths(worktree, ['src/link/../a'])).toMatchObject([{ real: join(worktree, 'src/a') }]);
  expect(await judge(worktree, 'src/away/../tree-2/a')).toBe('ask');
});

test('a denied name stays denied when it becomes a link to somewhere else', async () => {
  const { root, worktree } = places();
  symlinkSync(join(root, 'outside'), join(worktree, 'secret/out'));
  expect(await judge(worktree, 'secret/out/key')).toBe('deny');
});

test('a very long chain of links is not resolved', async () => {
  const { worktree } = places();
  for (let index = 0; index < 60; index += 1) symlinkSync(`link${index + 1}`, join(worktree, `src/link${index}`));
  expect(await judge(worktree, 'src/link0')).toBe('ask');
});
