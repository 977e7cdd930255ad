import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasRemoteBranches } from '../../src/repository/branch-tips.ts';
import { looseRefs } from '../../src/repository/loose-refs.ts';
import { listBranches, openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, temporaryDirectory } from '../fixture.ts';

async function setUp() {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  for (const name of ['work/a', 'work/b/c', 'worked']) git(root, 'branch', name, commit);
  return { root, commit, repository: await openRepository(root), dir: join(root, '.git') };
}

const names = async (dir: string, prefix: string) =>
  [...((await looseRefs(dir, prefix)) ?? ['only git can tell'])].map(([name]) => name);

test('refs below a prefix are read from their files and from the packed ones, as git lists them', async () => {
  const { root, commit, dir } = await setUp();
  const asGit = () => git(root, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/').trim().split('\n');
  const ours = async () => [...((await looseRefs(dir, 'refs/heads/')) ?? [])].map((pair) => pair.join(' '));
  expect(await names(dir, 'refs/heads/work/')).toEqual(['refs/heads/work/a', 'refs/heads/work/b/c']);
  expect(await ours()).toEqual(asGit());
  git(root, 'tag', '-a', '-m', 'first', 'v1');
  git(root, 'pack-refs', '--all');
  expect(await ours()).toEqual(asGit());
  // A ref that has moved since wins over the packed one.
  commitAll(root, 'second');
  git(root, 'branch', '--force', 'work/a', 'HEAD');
  expect(await ours()).toEqual(asGit());
  expect(asGit().join('\n')).toContain(commit);
  git(root, 'branch', '-D', 'work/b/c');
  expect(await ours()).toEqual(asGit());
});

test('a lock beside a ref is no ref', async () => {
  const { dir } = await setUp();
  writeFileSync(join(dir, 'refs', 'heads', 'work', 'a.lock'), '');
  expect(await names(dir, 'refs/heads/work/')).toEqual(['refs/heads/work/a', 'refs/heads/work/b/c']);
});

test.each<[string, (root: string, dir: string) => void]>([
  ['another name for a branch', (root) => git(root, 'symbolic-ref', 'refs/heads/work/alias', 'refs/heads/main')],
  ['a damaged ref', (_, dir) => writeFileSync(join(dir, 'refs', 'heads', 'work', 'a'), 'nonsense\n')],
  ['a link', (_, dir) => symlinkSync('a', join(dir, 'refs', 'heads', 'work', 'link'))],
  ['damaged packed refs', (_, dir) => writeFileSync(join(dir, 'packed-refs'), 'nonsense\n')],
  ['refs in another format', (_, dir) => mkdirSync(join(dir, 'reftable'))],
])('%s is left to git', async (_, plant) => {
  const { root, dir } = await setUp();
  plant(root, dir);
  expect(await looseRefs(dir, 'refs/heads/work/')).toBeNull();
});

test('the branches of a remote are found, packed or not', async () => {
  const { root, repository } = await setUp();
  expect(await hasRemoteBranches(repository)).toBe(false);
  git(root, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  expect(await hasRemoteBranches(repository)).toBe(true);
  git(root, 'pack-refs', '--all');
  rmSync(join(repository.commonDir, 'refs', 'remotes'), { recursive: true, force: true });
  expect(await hasRemoteBranches(repository)).toBe(true);
  expect((await listBranches(repository, 'work/')).map(({ name }) => name)).toEqual(['work/a', 'work/b/c']);
});
