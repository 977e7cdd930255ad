import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { looseBranchTip, looseCommit, looseHead } from '../../src/repository/loose-commit.ts';
import { branchTip, commitAt, headOf, openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, temporaryDirectory, traceGit } from '../fixture.ts';

async function setUp() {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  const object = join(root, '.git', 'objects', commit.slice(0, 2), commit.slice(2));
  chmodSync(object, 0o644);
  return {
    root,
    commit,
    object,
    ref: join(root, '.git', 'refs', 'heads', 'main'),
    repository: await openRepository(root),
  };
}

test('the tip of a branch is read from its file, and moves with it', async () => {
  const { root, commit, repository } = await setUp();
  expect(await looseBranchTip(repository.commonDir, 'main')).toBe(commit);
  const next = commitAll(root, 'second');
  expect(await looseBranchTip(repository.commonDir, 'main')).toBe(next);
  git(root, 'branch', 'work/a', commit);
  expect(await looseBranchTip(repository.commonDir, 'work/a')).toBe(commit);
  expect(await looseBranchTip(repository.commonDir, 'work')).toBeNull();
  expect(await looseBranchTip(repository.commonDir, 'other')).toBeNull();
});

test('a repository with longer ids is read, too', async () => {
  const root = join(temporaryDirectory(), 'project');
  mkdirSync(root);
  git(root, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
  writeFileSync(join(root, 'a.txt'), 'a');
  const commit = commitAll(root, 'first');
  expect(commit).toHaveLength(64);
  expect(await looseBranchTip(join(root, '.git'), 'main')).toBe(commit);
});

type Place = Awaited<ReturnType<typeof setUp>>;
const left: [string, (place: Place) => void, string?][] = [
  ['packed refs', ({ root }) => git(root, 'pack-refs', '--all')],
  ['a packed commit', ({ root }) => git(root, 'repack', '-a', '-d', '--quiet')],
  [
    'a branch that is another name',
    ({ root }) => git(root, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main'),
    'alias',
  ],
  ['a missing commit', ({ object }) => rmSync(object)],
  ['a damaged commit', ({ object }) => writeFileSync(object, readFileSync(object).subarray(0, 40))],
  ['another object in the place of the commit', ({ root, object }) => writeFileSync(object, treeOf(root))],
  ['a ref that is no id', ({ ref }) => writeFileSync(ref, 'nonsense\n')],
  ['an id that is too short', ({ ref, commit }) => writeFileSync(ref, `${commit.slice(1)}\n`)],
];

function treeOf(root: string): Buffer {
  const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim();
  return readFileSync(join(root, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
}

test.each(left)('%s is left to git, whose answer counts', async (_, change, name = 'main') => {
  const place = await setUp();
  change(place);
  expect(await looseBranchTip(place.repository.commonDir, name)).toBeNull();
  const told = (() => {
    try {
      return git(place.root, 'rev-parse', '--verify', '--quiet', `refs/heads/${name}^{commit}`).trim();
    } catch {
      return null;
    }
  })();
  expect(await branchTip(place.repository, name)).toBe(told);
});

test('HEAD is that of the worktree, on a branch or detached, and of an unborn branch there is none', async () => {
  const { root, commit } = await setUp();
  const side = join(dirname(root), 'side');
  git(root, 'worktree', 'add', '--quiet', '-b', 'work/side', side);
  const next = commitAll(side, 'second');
  const admin = join(root, '.git', 'worktrees', 'side');
  expect([await looseHead(join(root, '.git')), await looseHead(admin)]).toEqual([commit, next]);
  git(side, 'checkout', '--quiet', '--detach', commit);
  expect(await looseHead(admin)).toBe(commit);
  git(side, 'checkout', '--quiet', '--orphan', 'empty');
  expect([await looseHead(admin), await headOf(admin)]).toEqual([null, null]);
  writeFileSync(join(admin, 'HEAD'), 'ref: refs/heads/../../../../main\n');
  expect([await looseHead(admin), await headOf(admin)]).toEqual([null, null]);
});

test('only commits are found by their ids', async () => {
  const { root, commit, repository } = await setUp();
  const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim();
  expect(await looseCommit(repository.commonDir, commit)).toBe(commit);
  for (const id of [tree, commit.slice(1), commit.toUpperCase(), '', `../${commit}`])
    expect(await looseCommit(repository.commonDir, id)).toBeNull();
  expect(await commitAt(repository, tree)).toBeNull();
});

test('reading loose commits starts no git process', async () => {
  const { commit, repository } = await setUp();
  const calls = traceGit();
  const asked = [headOf(repository.gitDir), branchTip(repository, 'main'), commitAt(repository, commit)];
  const resolved = [resolveCommit(repository), resolveCommit(repository, commit)];
  expect(new Set(await Promise.all([...asked, ...resolved]))).toEqual(new Set([commit]));
  expect(calls()).toEqual([]);
});

test('a link, a pipe or a huge file in the place of a ref is not read', async () => {
  const { repository, ref, root } = await setUp();
  rmSync(ref);
  execFileSync('mkfifo', [ref]);
  expect(await looseBranchTip(repository.commonDir, 'main')).toBeNull();
  rmSync(ref);
  symlinkSync(join(root, 'readme.md'), ref);
  expect(await looseBranchTip(repository.commonDir, 'main')).toBeNull();
  rmSync(ref);
  writeFileSync(ref, 'a'.repeat(1024 * 1024));
  expect(await looseBranchTip(repository.commonDir, 'main')).toBeNull();
  rmSync(dirname(ref), { recursive: true });
  writeFileSync(dirname(ref), 'this repository uses the reftable format\n');
  expect(await looseBranchTip(repository.commonDir, 'main')).toBeNull();
});
