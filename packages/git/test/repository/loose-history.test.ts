import * as fc from 'fast-check';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { seed } from '@pawl/testing/endurance';
import { expect, test } from 'vitest';
import { looseAncestry, straightLine } from '../../src/repository/loose-history.ts';
import { looseChangedFiles } from '../../src/repository/loose-diff.ts';
import { commitAll, git, makeRepository, temporaryDirectory, write } from '../fixture.ts';

function place(files?: Record<string, string>) {
  const root = makeRepository(join(temporaryDirectory(), 'project'), files);
  return { root, objects: [join(root, '.git', 'objects')], first: git(root, 'rev-parse', 'HEAD').trim() };
}

function byGit(root: string, from: string, to: string): string[] {
  return git(root, 'diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to).split('\0').slice(0, -1);
}

test('the changed paths are those of git, in its order', async () => {
  const { root, objects, first } = place({
    'a/b': '1',
    'a.txt': '1',
    'a-b': '1',
    'gone/x/y': '1',
    'mode.sh': '1',
    kind: '1',
  });
  write(root, { 'a/b': '2', 'a/c': '3', a0: '4', 'ñ/z': '5', 'a.txt': '2' });
  rmSync(join(root, 'gone'), { recursive: true });
  rmSync(join(root, 'kind'));
  write(root, { 'kind/now': 'a directory' });
  chmodSync(join(root, 'mode.sh'), 0o755);
  symlinkSync('a.txt', join(root, 'link'));
  const second = commitAll(root, 'second');
  for (const [from, to] of [
    [first, second],
    [second, first],
    [first, first],
  ] as const)
    expect(await looseChangedFiles(objects, { from, to })).toEqual(byGit(root, from, to));
});

test('any two sets of files differ as git says', async () => {
  const { root, objects } = place();
  const name = fc.constantFrom('a', 'b', 'a.b', 'a-', 'é', 'd/a', 'd/b', 'd/e/f', 'd.e', 'd-/x');
  const files = fc.dictionary(name, fc.constantFrom('1', '2'), { minKeys: 1 });
  const commit = (each: Record<string, string>) => {
    git(root, 'rm', '-rfq', '--ignore-unmatch', '.');
    write(root, each);
    git(root, 'add', '--all');
    git(root, 'commit', '--quiet', '--allow-empty', '-m', 'files');
    return git(root, 'rev-parse', 'HEAD').trim();
  };
  const property = fc.asyncProperty(files, files, async (one, other) => {
    const [from, to] = [commit(one), commit(other)];
    expect(await looseChangedFiles(objects, { from, to })).toEqual(byGit(root, from, to));
  });
  await fc.assert(property, { seed, numRuns: 8 });
});

test('packed and missing objects are left to git', async () => {
  const { root, objects, first } = place();
  write(root, { new: 'x' });
  const second = commitAll(root, 'second');
  git(root, 'repack', '-adq');
  expect(await looseChangedFiles(objects, { from: first, to: second })).toBeNull();
  expect(await looseAncestry(objects, { base: first, head: second })).toBeNull();
});

test('ancestors are found through merges, and others are not', async () => {
  const { root, objects, first } = place();
  git(root, 'checkout', '--quiet', '-b', 'side');
  write(root, { side: 'x' });
  const side = commitAll(root, 'side');
  git(root, 'checkout', '--quiet', 'main');
  write(root, { main: 'x' });
  const main = commitAll(root, 'main');
  git(root, 'merge', '--quiet', '--no-edit', 'side');
  const merged = git(root, 'rev-parse', 'HEAD').trim();
  const ask = (base: string, head: string) => looseAncestry(objects, { base, head });
  expect(await Promise.all([ask(side, merged), ask(first, merged), ask(first, first)])).toEqual([true, true, true]);
  expect(await Promise.all([ask(side, main), ask(merged, side)])).toEqual([false, false]);
});

test('a long history is left to git', async () => {
  const { root, objects, first } = place();
  for (let number = 0; number < 25; number++) git(root, 'commit', '--quiet', '--allow-empty', '-m', `${number}`);
  const head = git(root, 'rev-parse', 'HEAD').trim();
  expect(await looseAncestry(objects, { base: first, head })).toBeNull();
});

test('a straight line has its commits from the head down; one with a merge, or beside the base, is left to git', async () => {
  const { root, objects, first } = place();
  write(root, { one: '1' });
  const one = commitAll(root, 'one');
  write(root, { two: '2' });
  const two = commitAll(root, 'two');
  const line = (base: string, head: string) => straightLine(objects, { base, head });
  expect(await line(first, two)).toEqual([
    { id: two, parents: [one] },
    { id: one, parents: [first] },
  ]);
  expect(await line(two, two)).toEqual([]);
  expect(await line(two, one)).toBeNull();
});
