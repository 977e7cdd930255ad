import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { branchTip, openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { trashWorktree } from '../../src/trash/trash.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees } from '../../src/worktree/worktree-list.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

const memory = '/dev/shm';
const hasOtherFileSystem = existsSync(memory) && statSync(memory).dev !== statSync('/tmp').dev;

async function setUp(trashParent?: string) {
  const home = temporaryDirectory();
  const root = makeRepository(join(home, 'project'), { 'a.txt': 'a\n', '.gitignore': 'ignored/\n' });
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const path = join(home, 'trees', 'otter');
  const request = { ownDir: join(home, 'own.git'), path, branch: 'work/otter', base };
  await addWorktree(repository, request);
  const trashDir = join(trashParent ? temporaryDirectory(trashParent) : home, 'trash');
  return {
    home,
    root,
    repository,
    base,
    request,
    path,
    trash: { path, branch: 'work/otter', trashDir, dirty: 4, at: 1234 },
  };
}

function fill(path: string): void {
  write(path, { 'a.txt': 'changed\n', 'new.txt': 'new\n', 'ignored/cache': 'x\n', 'sub/run.sh': '#!/bin/sh\n' });
  symlinkSync('/etc', join(path, 'link'));
  symlinkSync('nowhere', join(path, 'dangling'));
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(path, 'pipe')]);
}

const places: { name: string; parent?: string }[] = [{ name: 'on the same file system' }];
if (hasOtherFileSystem) places.push({ name: 'on another file system', parent: memory });

describe.each(places)('a trash $name', ({ parent }) => {
  test('keeps every file, the branch and a note, and removes it from the list', async () => {
    const { repository, path, trash, base } = await setUp(parent);
    fill(path);
    rmSync(join(path, 'pipe'));
    const before = snapshot(path, (name) => name === '.git');
    const trashed = await trashWorktree(repository, trash);
    const entry = trashed?.entry ?? '';
    expect(dirname(entry)).toBe(trash.trashDir);
    expect(readdirSync(trash.trashDir)).toEqual([basename(entry)]);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(dirname(path))).toEqual([]);
    expect(snapshot(join(entry, 'files'))).toEqual(before);
    expect(lstatSync(join(entry, 'files/link')).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(entry, 'note.json'), 'utf8'))).toEqual({
      version: 1,
      name: basename(entry),
      path,
      branch: 'work/otter',
      head: 'work/otter',
      commit: base,
      dirty: 4,
      repository: repository.root,
      at: 1234,
    });
    expect(readdirSync(join(entry, 'registration'))).toContain('index');
    expect(await listWorktrees(repository)).toHaveLength(1);
    expect(await branchTip(repository, 'work/otter')).toBe(base);
    expect(await trashWorktree(repository, trash)).toBeNull();
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  test('a pipe in the worktree is no obstacle', async () => {
    const { repository, path, trash } = await setUp(parent);
    fill(path);
    const trashed = await trashWorktree(repository, trash);
    expect(readFileSync(join(trashed?.entry ?? '', 'files/new.txt'), 'utf8')).toBe('new\n');
  });

  test('path and branch can be used again, and both entries stay', async () => {
    const { repository, request, trash } = await setUp(parent);
    const first = await trashWorktree(repository, trash);
    await addWorktree(repository, request);
    expect(git(request.path, 'status', '--porcelain')).toBe('');
    // Git in the trash must not find the new worktree's index through the old pointer.
    expect(existsSync(join(first?.entry ?? '', 'files/.git'))).toBe(false);
    const second = await trashWorktree(repository, trash);
    expect(second?.entry).not.toBe(first?.entry);
    expect(readdirSync(trash.trashDir)).toHaveLength(2);
  });
});

test('a worktree can be restored from the trash by hand', async () => {
  const { repository, root, path, trash } = await setUp();
  write(path, { 'a.txt': 'staged\n' });
  git(path, 'add', 'a.txt');
  const entry = (await trashWorktree(repository, trash))?.entry ?? '';
  renameSync(join(entry, 'files'), path);
  renameSync(join(entry, 'dot-git'), join(path, '.git'));
  renameSync(join(entry, 'registration'), join(root, '.git/worktrees/otter'));
  expect(git(path, 'status', '--porcelain')).toBe('M  a.txt\n');
});

test('commits on no branch stay reachable', async () => {
  const { repository, root, path, trash } = await setUp();
  git(path, 'checkout', '--quiet', '--detach');
  write(path, { 'a.txt': 'on no branch\n' });
  const commit = commitAll(path, 'loose');
  const trashed = await trashWorktree(repository, trash);
  expect(trashed?.note.head).toBe(commit);
  git(root, 'reflog', 'expire', '--expire=now', '--all');
  git(root, 'gc', '--quiet', '--prune=now');
  expect(git(root, 'show', `${commit}:a.txt`)).toBe('on no branch\n');
});

describe('interrupted', () => {
  test('after the files were moved', async () => {
    const { repository, path, trash } = await setUp();
    const draftName = await interrupted(repository, trash);
    mkdirSync(join(trash.trashDir, draftName), { recursive: true });
    expect(existsSync(path)).toBe(false);
    const trashed = await trashWorktree(repository, trash);
    expect(existsSync(join(trashed?.entry ?? '', 'files/a.txt'))).toBe(true);
    expect(existsSync(join(trashed?.entry ?? '', 'registration/HEAD'))).toBe(true);
    expect(await listWorktrees(repository)).toHaveLength(1);
    expect(readdirSync(trash.trashDir)).toHaveLength(1);
  });

  test('and a directory put there meanwhile stays', async () => {
    const { repository, path, trash } = await setUp();
    await interrupted(repository, trash);
    write(path, { 'precious.txt': 'mine\n' });
    expect(await refusal(trashWorktree(repository, trash))).toMatch(/^conflict: /);
    expect(readFileSync(join(path, 'precious.txt'), 'utf8')).toBe('mine\n');
  });

  /** Makes the state of a process that was killed between the two moves: one whole entry is taken apart again. */
  async function interrupted(
    repository: Awaited<ReturnType<typeof openRepository>>,
    trash: Parameters<typeof trashWorktree>[1],
  ) {
    const entry = (await trashWorktree(repository, trash))?.entry ?? '';
    renameSync(join(entry, 'registration'), join(repository.commonDir, 'worktrees/otter'));
    const { createHash } = await import('node:crypto');
    const draft = `.draft-${createHash('sha256').update(trash.path).digest('hex').slice(0, 16)}`;
    renameSync(entry, join(trash.trashDir, draft));
    return draft;
  }
});

describe('refuses', () => {
  test('a directory that is not a worktree, the main one, and a link in its place', async () => {
    const { home, root, repository, path, trash } = await setUp();
    write(home, { 'plain/precious.txt': 'mine\n' });
    expect(await refusal(trashWorktree(repository, { ...trash, path: join(home, 'plain') }))).toMatch(/^not_found: /);
    expect(await refusal(trashWorktree(repository, { ...trash, path: root }))).toMatch(/^not_found: /);
    renameSync(path, join(home, 'moved'));
    symlinkSync(join(home, 'moved'), path);
    expect(await refusal(trashWorktree(repository, trash))).toMatch(/^conflict: /);
    expect(existsSync(join(home, 'moved/a.txt'))).toBe(true);
    expect(existsSync(join(home, 'plain/precious.txt'))).toBe(true);
    expect(existsSync(trash.trashDir)).toBe(false);
  });

  test('a locked one', async () => {
    const { root, repository, path, trash } = await setUp();
    git(root, 'worktree', 'lock', path);
    expect(await refusal(trashWorktree(repository, trash))).toMatch(/^conflict: .*locked.* → .*unlock/);
    expect(existsSync(join(path, 'a.txt'))).toBe(true);
  });

  test('one with another worktree inside', async () => {
    const { repository, request, path, trash } = await setUp();
    await addWorktree(repository, { ...request, path: join(path, 'inner'), branch: 'work/inner' });
    expect(await refusal(trashWorktree(repository, trash))).toMatch(/^conflict: .*inside/);
    expect(existsSync(join(path, 'inner/a.txt'))).toBe(true);
  });
});

test('takes a lost worktree off the list', async () => {
  const { repository, path, trash } = await setUp();
  rmSync(path, { recursive: true });
  expect((await trashWorktree(repository, trash))?.note.path).toBe(path);
  expect(await listWorktrees(repository)).toHaveLength(1);
});

test('finds a worktree whose pointer the agent deleted', async () => {
  const { repository, path, trash } = await setUp();
  rmSync(join(path, '.git'));
  const entry = (await trashWorktree(repository, trash))?.entry ?? '';
  expect(existsSync(join(entry, 'files/a.txt'))).toBe(true);
  expect(await listWorktrees(repository)).toHaveLength(1);
});
