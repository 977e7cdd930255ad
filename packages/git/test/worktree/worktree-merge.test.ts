import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginMerge, commitMerge } from '../../src/worktree/worktree-merge.ts';
import { commitAll, git, refusal, write } from '../fixture.ts';
import { errandPlace, plantCommands } from '../merging.ts';

const files: Record<string, string> = { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n', 'gone.txt': 'x\n' };

/** A worktree whose branch conflicts with main: one file changed by both, one deleted by it and changed by main. */
async function place(given = files) {
  const errand = await errandPlace(given);
  write(errand.path, { 'a.txt': '1\nmine\n3\n', 'own.txt': 'own\n' });
  git(errand.path, 'rm', '-q', 'gone.txt');
  const head = commitAll(errand.path, 'mine');
  write(errand.root, { 'a.txt': '1\ntheirs\n3\n', 'b.txt': 'main\n', 'gone.txt': 'changed\n', 'new.txt': 'n\n' });
  const onto = commitAll(errand.root, 'on main');
  const { ownDir, path, branch } = errand;
  const request = { ownDir, path, branch, head, onto, landed: [], atMs: 1_000_000_000_000, message: 'Merge main\n' };
  return {
    ...errand,
    head,
    onto,
    begin: (fields: Partial<Parameters<typeof beginMerge>[1]> = {}) =>
      beginMerge(errand.repository, { ...request, isRepeat: false, ...fields }),
    commit: () => commitMerge(errand.repository, { ownDir, path, branch, message: 'Merge main\n' }),
    status: () => git(path, 'status', '--porcelain').trim().split('\n').toSorted(),
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    admin: (name: string) => git(path, 'rev-parse', '--git-path', name).trim(),
  };
}

const conflicted = ['M  b.txt', 'A  new.txt', 'DU gone.txt', 'UU a.txt'].toSorted();

test('a merge starts as in git: markers, versions in the index, MERGE_HEAD; a second call changes nothing', async () => {
  const at = await place();
  expect(await at.begin()).toEqual({ do: 'begun', files: ['a.txt', 'gone.txt'] });
  expect(at.status()).toEqual(conflicted);
  expect(at.read('a.txt')).toMatch(/^1\n<<<<<<< .*\nmine\n=======\ntheirs\n>>>>>>> .*\n3\n$/);
  expect(git(at.path, 'rev-parse', 'MERGE_HEAD').trim()).toBe(at.onto);
  writeFileSync(join(at.path, 'a.txt'), '1\nboth\n3\n');
  expect(await at.begin({ isRepeat: true })).toEqual({ do: 'already', files: ['a.txt', 'gone.txt'] });
  expect(at.read('a.txt')).toBe('1\nboth\n3\n');
});

test('it is committed once everything is resolved and staged, with both parents, and then git sees no merge', async () => {
  const at = await place();
  expect(await at.commit()).toBe(null);
  await at.begin();
  expect(await refusal(at.commit())).toMatch(/^conflict: .*still in conflict: a\.txt, gone\.txt/);
  writeFileSync(join(at.path, 'a.txt'), '1\nboth\n3\n');
  git(at.path, 'add', 'a.txt');
  git(at.path, 'rm', '-q', 'gone.txt');
  writeFileSync(join(at.path, 'b.txt'), 'not staged\n');
  expect(await refusal(at.commit())).toMatch(/not staged/);
  git(at.path, 'add', 'b.txt');
  const commit = await at.commit();
  expect(git(at.path, 'rev-parse', 'HEAD').trim()).toBe(commit);
  expect(git(at.path, 'log', '-1', '--format=%P').trim()).toBe(`${at.head} ${at.onto}`);
  expect([at.status(), at.read('a.txt'), at.read('b.txt'), at.read('new.txt')]).toEqual([
    [''],
    '1\nboth\n3\n',
    'not staged\n',
    'n\n',
  ]);
  expect(existsSync(join(at.path, at.admin('MERGE_HEAD')))).toBe(false);
  git(at.path, 'fsck', '--no-dangling');
  expect(await at.commit()).toBe(null);
});

test('an interrupted commit is not repeated', async () => {
  const at = await place();
  await at.begin();
  git(at.path, 'rm', '-q', '-f', 'gone.txt');
  writeFileSync(join(at.path, 'a.txt'), 'x\n');
  git(at.path, 'add', 'a.txt');
  const mergeHead = git(at.path, 'rev-parse', 'MERGE_HEAD');
  const file = git(at.path, 'rev-parse', '--path-format=absolute', '--git-path', 'MERGE_HEAD').trim();
  const commit = await at.commit();
  writeFileSync(file, mergeHead);
  expect(await at.commit()).toBe(commit);
  expect(existsSync(file)).toBe(false);
});

test('a dirty worktree, another operation and a moved branch are refused; untracked files stay', async () => {
  const at = await place();
  writeFileSync(join(at.path, 'notes.txt'), 'mine\n');
  writeFileSync(join(at.path, 'b.txt'), 'not committed\n');
  for (const isRepeat of [false, true]) expect(await refusal(at.begin({ isRepeat }))).toMatch(/uncommitted/);
  expect(at.read('b.txt')).toBe('not committed\n');
  writeFileSync(join(at.path, 'b.txt'), 'b\n');
  expect(await refusal(at.begin({ head: at.onto }))).toMatch(/has moved/);
  writeFileSync(join(at.path, 'new.txt'), 'in the way\n');
  expect(await refusal(at.begin())).toMatch(/in the way/);
  expect(at.read('new.txt')).toBe('in the way\n');
  git(at.path, 'clean', '-qf', 'new.txt');
  await at.begin();
  expect(at.read('notes.txt')).toBe('mine\n');
});

test('an interrupted merge starts again, whatever was written', async () => {
  const at = await place();
  await at.begin();
  const markers = at.read('a.txt');
  const file = git(at.path, 'rev-parse', '--path-format=absolute', '--git-path', 'MERGE_HEAD').trim();
  // As if it was killed before MERGE_HEAD, and before the index had the versions or all files were written.
  for (const undo of [[], ['read-tree', '--reset', 'HEAD']]) {
    rmSync(file);
    if (undo.length > 0) git(at.path, ...undo);
    expect(await refusal(at.begin())).toMatch(/uncommitted/);
    expect(await at.begin({ isRepeat: true })).toMatchObject({ do: 'begun' });
    expect([at.status(), at.read('a.txt')]).toEqual([conflicted, markers]);
  }
});

test('a branch without conflicts has nothing to resolve, and stays unchanged', async () => {
  const at = await place();
  git(at.path, 'reset', '-q', '--hard', 'HEAD~1');
  const head = git(at.path, 'rev-parse', 'HEAD').trim();
  expect(await at.begin({ head })).toEqual({ do: 'clean' });
  expect(at.status()).toEqual(['']);
});

test('no hook, filter or driver of the repository runs', async () => {
  const at = await place({ ...files, '.gitattributes': '*.bin filter=evil\n*.txt diff=evil merge=evil\n' });
  const fired = plantCommands(at.home, at.root);
  await at.begin();
  await refusal(at.commit());
  expect(fired()).toEqual([]);
});
