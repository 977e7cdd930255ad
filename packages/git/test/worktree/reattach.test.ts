import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reattachWorktree, worktreeLink } from '../../src/worktree/reattach.ts';
import { openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { addWorktree, verifyWorktree } from '../../src/worktree/worktree.ts';
import { dieAt } from '../crash-process.ts';
import { git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

/** A worktree with a commit of its own, a staged change, an edited file and an untracked one. */
async function setUp() {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const repository = await openRepository(root);
  const path = join(home, 'trees', 'otter');
  const request = { ownDir: join(home, 'own.git'), path, branch: 'work/otter' };
  await addWorktree(repository, { ...request, base: await resolveCommit(repository) });
  write(path, { 'c.txt': 'c\n' });
  git(path, 'add', 'c.txt');
  git(path, 'commit', '--quiet', '--message', 'third');
  write(path, { 'a.txt': 'edited\n', 'new.txt': 'new\n' });
  const head = git(path, 'rev-parse', 'HEAD');
  const files = snapshot(path, (name) => name === '.git');
  const adminDir = join(root, '.git', 'worktrees', 'otter');
  const check = async (at = repository) => {
    expect(await worktreeLink(at, path)).toEqual({ state: 'whole' });
    expect(snapshot(path, (name) => name === '.git')).toEqual(files);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(path, 'status', '--porcelain')).toBe(' M a.txt\n?? new.txt\n');
    expect(git(at.root, 'worktree', 'list')).toContain(path);
    git(at.root, 'worktree', 'prune');
    await verifyWorktree(at, path, 'work/otter');
  };
  return { home, root, repository, path, request, adminDir, check };
}

test('a worktree whose record git lost is registered again, and no file in it changes', async () => {
  const { repository, path, request, adminDir, check } = await setUp();
  rmSync(adminDir, { recursive: true });
  expect(await worktreeLink(repository, path)).toEqual({ state: 'detached', reason: 'git has no record of it' });
  expect(await reattachWorktree(repository, request)).toBe(true);
  await check();
  expect(await reattachWorktree(repository, request)).toBe(false);
});

test('a worktree of a moved repository is linked to the new path', async () => {
  const { home, root, path, request, check } = await setUp();
  renameSync(root, join(home, 'moved'));
  const moved = await openRepository(join(home, 'moved'));
  expect(await worktreeLink(moved, path)).toMatchObject({ state: 'detached' });
  expect(await reattachWorktree(moved, request)).toBe(true);
  await check(moved);
});

test('a lost index is recreated from the branch', async () => {
  const { repository, path, request, adminDir, check } = await setUp();
  rmSync(join(adminDir, 'index'));
  expect(await worktreeLink(repository, path)).toEqual({ state: 'detached', reason: 'its index is missing' });
  expect(await reattachWorktree(repository, request)).toBe(true);
  await check();
});

test('a deleted .git file is written again, and a link in its place is not followed', async () => {
  const { home, repository, path, request, check } = await setUp();
  rmSync(join(path, '.git'));
  symlinkSync(join(home, 'elsewhere'), join(path, '.git'));
  expect(await reattachWorktree(repository, request)).toBe(true);
  await check();
  expect(existsSync(join(home, 'elsewhere'))).toBe(false);
});

test.each(['reattach.after_record', 'reattach.after_pointer'] as const)(
  'a repair that is killed at %s is finished by the next one',
  async (point) => {
    const { root, repository, request, adminDir, check } = await setUp();
    rmSync(adminDir, { recursive: true });
    await dieAt(point, { root, operation: 'reattachWorktree', ...request });
    expect(await reattachWorktree(repository, request)).toBe(true);
    await check();
  },
);

test('an interrupted record is completed', async () => {
  const { repository, path, request, adminDir, check } = await setUp();
  rmSync(adminDir, { recursive: true });
  mkdirSync(adminDir);
  writeFileSync(join(adminDir, 'gitdir'), `${path}/.git\n`);
  expect(await reattachWorktree(repository, request)).toBe(true);
  await check();
});

test('a repair that would lose something is refused with the reason', async () => {
  const { root, repository, path, request, adminDir } = await setUp();
  rmSync(adminDir, { recursive: true });
  git(root, 'branch', '--quiet', '--move', 'work/otter', 'work/other');
  expect(await refusal(reattachWorktree(repository, request))).toContain('is gone');
  git(root, 'branch', '--quiet', '--move', 'work/other', 'work/otter');
  git(root, 'switch', '--quiet', 'work/otter');
  expect(await refusal(reattachWorktree(repository, request))).toContain('is checked out in another worktree');
  git(root, 'switch', '--quiet', 'main');
  rmSync(join(path, '.git'));
  git(path, 'init', '--quiet');
  expect(await refusal(reattachWorktree(repository, request))).toContain('has a repository of its own');
  rmSync(path, { recursive: true });
  expect(await worktreeLink(repository, path)).toEqual({ state: 'missing' });
  expect(await refusal(reattachWorktree(repository, request))).toContain('There is no directory');
});
