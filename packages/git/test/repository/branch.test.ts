import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteBranchAt } from '../../src/repository/branch.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, refusal, temporaryDirectory } from '../fixture.ts';

async function setUp() {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'));
  const first = git(root, 'rev-parse', 'HEAD').trim();
  const second = commitAll(root, 'second');
  git(root, 'branch', 'work/a', first);
  const exists = (name: string) => git(root, 'for-each-ref', `refs/heads/${name}`) !== '';
  return { home, root, repository: await openRepository(root), first, second, exists };
}

test('deletes a branch only where it was expected [7.11]', async () => {
  const { root, repository, first, second, exists } = await setUp();
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: second })).toBe(false);
  expect(exists('work/a')).toBe(true);
  git(root, 'pack-refs', '--all');
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: first })).toBe(true);
  expect(exists('work/a')).toBe(false);
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: first })).toBe(false);
  expect(await refusal(deleteBranchAt(repository, { branch: '../x', commit: first }))).toMatch(/^invalid_input: /);
});

test('keeps a branch that a worktree is on, or will return to', async () => {
  const { home, root, repository, first, second, exists } = await setUp();
  expect(await deleteBranchAt(repository, { branch: 'main', commit: second })).toBe(false);
  const path = join(home, 'tree');
  git(root, 'worktree', 'add', '--quiet', path, 'work/a');
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: first })).toBe(false);
  git(path, 'checkout', '--quiet', '--detach');
  const admin = join(root, '.git/worktrees/tree');
  writeFileSync(join(admin, 'BISECT_START'), 'work/a\n');
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: first })).toBe(false);
  git(path, 'bisect', 'reset', 'HEAD');
  writeFileSync(join(admin, 'BISECT_START'), 'other\n');
  expect(exists('work/a')).toBe(true);
  expect(await deleteBranchAt(repository, { branch: 'work/a', commit: first })).toBe(true);
});
