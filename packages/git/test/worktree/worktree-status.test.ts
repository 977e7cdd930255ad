import { chmodSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepOutOfCommits } from '../../src/repository/exclude.ts';
import { openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees, parseWorktreeList } from '../../src/worktree/worktree-list.ts';
import { worktreeStatus } from '../../src/worktree/worktree-status.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

async function setUp() {
  const home = temporaryDirectory();
  const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', '.gitignore': '*.ignored\n' };
  const root = makeRepository(join(home, 'project'), files);
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const request = { ownDir: join(home, 'own.git'), path: join(home, 'tree'), branch: 'work/otter', base };
  await addWorktree(repository, request);
  return { home, root, repository, base, request, path: request.path };
}

test('clean, then each kind of change [S3-64, 5.2.9]', async () => {
  const { repository, request, path, base } = await setUp();
  const clean = { changed: 0, untracked: 0, files: [], truncated: false, head: base, branch: 'work/otter' };
  expect(await worktreeStatus(repository, request)).toEqual(clean);
  await keepOutOfCommits(repository, ['/.pawl/input/']);
  write(path, { 'x.ignored': 'x', '.pawl/input/task.md': 'x' });
  expect(await worktreeStatus(repository, request)).toEqual(clean);
  write(path, { 'a.txt': 'changed\n', 'new/one.txt': '1', 'new/two.txt': '2', 'ü "odd"\n name': 'x' });
  rmSync(join(path, 'b.txt'));
  expect(await worktreeStatus(repository, request)).toEqual({
    ...clean,
    changed: 2,
    untracked: 2,
    files: ['a.txt', 'b.txt', 'new/', 'ü "odd"\n name'],
  });
});

test('sees what is only in the index, a changed mode, a rename and a link', async () => {
  const { repository, request, path } = await setUp();
  write(path, { 'a.txt': 'staged\n' });
  git(path, 'add', 'a.txt');
  write(path, { 'a.txt': 'a\n' });
  chmodSync(join(path, 'b.txt'), 0o755);
  renameSync(join(path, 'c.txt'), join(path, 'd.txt'));
  symlinkSync('/etc/passwd', join(path, 'link'));
  expect(await worktreeStatus(repository, request)).toMatchObject({
    changed: 3,
    untracked: 2,
    files: ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'link'],
  });
});

test('follows HEAD: commits, another branch, a detached and an unborn one', async () => {
  const { repository, request, path } = await setUp();
  write(path, { 'a.txt': 'changed\n' });
  const head = commitAll(path, 'work');
  expect(await worktreeStatus(repository, request)).toMatchObject({ changed: 0, head, branch: 'work/otter' });
  git(path, 'checkout', '--quiet', '--detach');
  expect(await worktreeStatus(repository, request)).toMatchObject({ changed: 0, head, branch: null });
  git(path, 'checkout', '--quiet', '--orphan', 'fresh');
  expect(await worktreeStatus(repository, request)).toMatchObject({ changed: 4, head: null, branch: 'fresh' });
});

test('writes neither to the worktree nor to the repository', async () => {
  const { root, repository, request, path } = await setUp();
  utimesSync(join(path, 'a.txt'), 1, 1);
  const before = [snapshot(root), snapshot(path)];
  await worktreeStatus(repository, request);
  expect([snapshot(root), snapshot(path)]).toEqual(before);
});

test('reads a split index, and works during a merge conflict', async () => {
  const { repository, request, path } = await setUp();
  git(path, 'update-index', '--split-index');
  write(path, { 'a.txt': 'ours\n' });
  expect(await worktreeStatus(repository, request)).toMatchObject({ changed: 1 });
  const ours = commitAll(path, 'ours');
  git(path, 'checkout', '--quiet', '-b', 'theirs', request.base);
  write(path, { 'a.txt': 'theirs\n' });
  commitAll(path, 'theirs');
  expect(() => git(path, 'merge', '--quiet', ours)).toThrow();
  expect(await worktreeStatus(repository, request)).toMatchObject({ changed: 1, files: ['a.txt'] });
});

test('names a bounded number of files and counts the rest', async () => {
  const { repository, request, path } = await setUp();
  write(path, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`n${i}.txt`, 'x'])));
  const status = await worktreeStatus(repository, request);
  expect(status.untracked).toBe(300);
  expect(status.files).toHaveLength(200);
});

test('reports no worktree where there is none', async () => {
  const { home, root, repository, request } = await setUp();
  for (const path of [root, join(home, 'nothing'), home]) {
    expect(await refusal(worktreeStatus(repository, { ...request, path }))).toMatch(/^not_found: /);
  }
});

test('lists worktrees, also lost and locked ones and odd names', async () => {
  const { home, root, repository, request, base } = await setUp();
  const odd = join(home, 'zoë "x"\ty');
  git(root, 'worktree', 'add', '--quiet', '--detach', odd);
  git(root, 'worktree', 'lock', '--reason', 'why not', odd);
  rmSync(request.path, { recursive: true });
  const plain = { head: base, bare: false, locked: null, prunable: null };
  expect(await listWorktrees(repository)).toEqual([
    { ...plain, path: root, branch: 'main' },
    { ...plain, path: request.path, branch: 'work/otter', prunable: expect.stringContaining('non-existent') },
    { ...plain, path: odd, branch: null, locked: 'why not' },
  ]);
});

test('parses the list of a git without -z', () => {
  const text = `worktree /a b\nHEAD ${'1'.repeat(40)}\nbranch refs/heads/main\n\nworktree /c\nHEAD ${'0'.repeat(40)}\ndetached\nlocked\n\n`;
  expect(parseWorktreeList(text, '\n')).toEqual([
    { path: '/a b', head: '1'.repeat(40), branch: 'main', bare: false, locked: null, prunable: null },
    { path: '/c', head: null, branch: null, bare: false, locked: '', prunable: null },
  ]);
});
