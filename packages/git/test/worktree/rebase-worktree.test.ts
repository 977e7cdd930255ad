import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishRebase, moveRebased, planRebase, type RebasePlan } from '../../src/worktree/rebase-worktree.ts';
import { commitAll, git, refusal, snapshot, write } from '../fixture.ts';
import { errandPlace, plantCommands } from '../merging.ts';

const files: Record<string, string> = { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n', 'c.txt': 'c\n' };

/** A worktree on a branch of its own, and a main that has moved on since. */
async function place(
  onMain: Record<string, string> = { 'b.txt': 'main\n', 'new.txt': 'new\n', 'dir/x': 'x' },
  given = files,
) {
  const errand = await errandPlace(given);
  write(errand.root, onMain);
  const onto = commitAll(errand.root, 'on main');
  const plan = (fields: { landed?: string[]; merged?: string[]; base?: string; onto?: string } = {}) =>
    planRebase(errand.repository, {
      ...errand.request,
      onto,
      landed: [],
      merged: [],
      atMs: 1_000_000_000_000,
      ...fields,
    });
  const { ownDir, branch } = errand;
  return {
    ...errand,
    onto,
    plan,
    move: (found: RebasePlan) =>
      moveRebased(errand.repository, { ownDir, branch, ...(found.do === 'move' ? found : { from: '', to: '' }) }),
    tip: () => git(errand.path, 'rev-parse', 'HEAD').trim(),
    status: () => git(errand.path, 'status', '--porcelain'),
    log: () => git(errand.path, 'log', '--format=%an %s', `${onto}..HEAD`).trim(),
    read: (name: string) => readFileSync(join(errand.path, name), 'utf8'),
  };
}

test('a branch without commits moves to main, with its files [W4-15]', async () => {
  const { plan, move, tip, base, onto, status, read } = await place();
  const found = await plan();
  expect(found).toEqual({ do: 'move', from: base, to: onto });
  expect(tip()).toBe(base);
  expect(await move(found)).toBe(true);
  expect([tip(), status(), read('new.txt')]).toEqual([onto, '', 'new\n']);
  expect(await plan()).toMatchObject({ do: 'skip', why: 'it is up to date', isSettled: true });
});

test('commits are replayed with author and message; uncommitted work stays, without a stash [W4-15]', async () => {
  const { plan, move, work, log, status, read, path, root, onto } = await place();
  work({ 'a.txt': '1\n2\n3\n4\nfive\n' });
  work({ 'mine.txt': 'mine\n' });
  write(path, { 'c.txt': 'edited\n', 'staged.txt': 'staged\n', 'untracked.txt': 'u\n' });
  git(path, 'add', 'staged.txt');
  const before = status();
  expect(await move(await plan())).toBe(true);
  expect(log()).toBe('person errand\nperson errand');
  expect(git(path, 'rev-parse', 'HEAD~2').trim()).toBe(onto);
  expect(status()).toBe(before);
  expect(before.split('\n').sort()).toEqual(['', ' M c.txt', '?? untracked.txt', 'A  staged.txt']);
  expect(['a.txt', 'b.txt', 'c.txt', 'new.txt'].map(read)).toEqual([
    '1\n2\n3\n4\nfive\n',
    'main\n',
    'edited\n',
    'new\n',
  ]);
  expect(existsSync(join(root, '.git/refs/stash'))).toBe(false);
  expect(git(path, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
});

test('files that became directories on main, and the reverse, follow', async () => {
  const { plan, move, root, path, read, status } = await place({}, { ...files, 'old/x': 'x\n', 'old/y': 'y\n' });
  git(root, 'rm', '--quiet', '-r', 'old', 'c.txt');
  write(root, { old: 'a file now\n', 'c.txt/z': 'z\n' });
  expect(await move(await plan({ onto: commitAll(root, 'turned') }))).toBe(true);
  expect([read('old'), read('c.txt/z'), status(), existsSync(join(path, 'old/x'))]).toEqual([
    'a file now\n',
    'z\n',
    '',
    false,
  ]);
});

test('an ignored file in a directory that becomes a file blocks the move', async () => {
  const { plan, move, root, path, read } = await place({}, { ...files, 'old/x': 'x\n', '.gitignore': '*.o\n' });
  write(path, { 'old/result.o': 'of an hour\n' });
  git(root, 'rm', '--quiet', '-r', 'old');
  write(root, { old: 'a file now\n' });
  expect(await refusal(move(await plan({ onto: commitAll(root, 'turned') })))).toMatch(/^conflict: .*in the way/);
  expect([read('old/result.o'), read('old/x')]).toEqual(['of an hour\n', 'x\n']);
});

test('a conflicting branch stays, and the files are listed [W4-15]', async () => {
  const { plan, work, status, path } = await place({ 'b.txt': 'main\n', 'c.txt': 'main\n' });
  work({ 'b.txt': 'mine\n' });
  write(path, { 'u.txt': 'u' });
  const before = snapshot(path);
  expect(await plan()).toEqual({ do: 'conflict', files: ['b.txt'] });
  expect(snapshot(path)).toEqual(before);
  expect(status()).toBe('?? u.txt\n');
});

test.each([
  ['an edit', (path: string) => write(path, { 'b.txt': 'edited\n' })],
  [
    'a staged edit',
    (path: string) => {
      write(path, { 'b.txt': 'edited\n' });
      git(path, 'add', 'b.txt');
    },
  ],
  ['an untracked file', (path: string) => write(path, { 'new.txt': 'other\n' })],
  ['an ignored file', (path: string) => write(path, { '.gitignore': 'new.txt\n', 'new.txt': 'other\n' })],
  ['an ignored directory', (path: string) => write(path, { '.gitignore': 'new.txt\n', 'new.txt/x': 'other\n' })],
  ['an ignored file above', (path: string) => write(path, { '.gitignore': 'dir\n', dir: 'other\n' })],
  ['a directory in the place of a file', (path: string) => write(path, { 'new.txt/x': 'other\n' })],
  ['a link in the place of a file', (path: string) => symlinkSync('/etc', join(path, 'new.txt'))],
])('%s that would be overwritten keeps the branch and every file unchanged [W4-15]', async (_, dirty) => {
  const { plan, move, tip, path, root, base } = await place();
  dirty(path);
  const found = await plan();
  const before = [snapshot(path), snapshot(root, (name) => name.startsWith('.git/objects'))];
  expect(await refusal(move(found))).toMatch(/^conflict: .*in the way/);
  expect(tip()).toBe(base);
  expect([snapshot(path), snapshot(root, (name) => name.startsWith('.git/objects'))]).toEqual(before);
});

test('a worktree is left alone while it is detached, elsewhere, locked, or has an operation in progress [W4-15]', async () => {
  const { plan, work, path, root, onto } = await place({ 'b.txt': 'main\n' });
  const mine = work({ 'b.txt': 'mine\n' });
  const admin = join(root, '.git/worktrees/tree');
  const why = async () => {
    const found = await plan();
    return found.do === 'skip' && !found.isSettled ? found.why : found.do;
  };
  const meanwhile = async (args: string[], undo: string[]) => {
    try {
      git(path, ...args);
    } catch {
      // It stops at the conflict, as it should.
    }
    const said = await why();
    git(path, ...undo);
    return said;
  };
  expect(await meanwhile(['checkout', '--quiet', '--detach'], ['checkout', '--quiet', 'work/otter'])).toMatch(
    /detached/,
  );
  expect(await meanwhile(['checkout', '--quiet', '-b', 'side'], ['checkout', '--quiet', 'work/otter'])).toMatch(
    /on side/,
  );
  expect(await meanwhile(['merge', onto], ['merge', '--abort'])).toBe('a merge is in progress');
  expect(await meanwhile(['cherry-pick', onto], ['cherry-pick', '--abort'])).toBe('a cherry-pick is in progress');
  // A rebase detaches the HEAD while it waits.
  expect(await meanwhile(['rebase', onto], ['rebase', '--abort'])).toMatch(/detached|rebase/);
  expect(await meanwhile(['worktree', 'lock', path], ['worktree', 'unlock', path])).toMatch(/locked/);
  expect(await meanwhile(['sparse-checkout', 'set', '--no-cone', '*'], ['sparse-checkout', 'disable'])).toMatch(
    /sparse/,
  );
  rmSync(join(admin, 'info'), { recursive: true, force: true });
  writeFileSync(join(admin, 'index.lock'), '');
  expect(await why()).toMatch(/index is locked/);
  rmSync(join(admin, 'index.lock'));
  expect(await why()).toBe('conflict');
  expect(git(path, 'rev-parse', 'HEAD').trim()).toBe(mine);
  rmSync(path, { recursive: true });
  expect(await why()).toMatch(/gone/);
});

test('a branch that started on something else than main is not rebased onto main', async () => {
  const { plan, work } = await place();
  const base = work({ 'a.txt': 'of another branch\n' });
  work({ 'c.txt': 'mine\n' });
  expect(await plan({ base })).toMatchObject({ do: 'skip', why: 'it started on something else', isSettled: true });
});

test('commits that main has in another form are not replayed against themselves', async () => {
  const { plan, move, work, root, path, log } = await place({});
  work({ 'b.txt': 'first\n' });
  const landed = work({ 'b.txt': 'second\n' });
  work({ 'c.txt': 'mine\n' });
  write(root, { 'b.txt': 'second\n' });
  const onto = commitAll(root, 'squashed');
  expect(await move(await plan({ onto, landed: [landed] }))).toBe(true);
  expect(git(path, 'log', '--format=%s', `${onto}..HEAD`)).toBe('errand\n');
  expect(log()).toContain('squashed');
});

test('a branch with nothing beyond its own merged change stays, and one that started at a merged head moves on', async () => {
  const { plan, work, root } = await place({});
  work({ 'b.txt': 'first\n' });
  const head = work({ 'b.txt': 'second\n' });
  write(root, { 'b.txt': 'second\n' });
  const onto = commitAll(root, 'squashed');
  const missing = 'e'.repeat(40);
  const stays = { do: 'skip', why: 'its change was merged', isSettled: true };
  expect(await plan({ onto, landed: [head], merged: [missing, head] })).toEqual(stays);
  expect(await plan({ onto, base: head, landed: [head] })).toEqual({ do: 'move', from: head, to: onto });
});

test('a branch whose commits cannot be replayed merges main instead', async () => {
  const { plan, move, work, path, status, tip, read } = await place({ 'b.txt': 'second\n', 'new.txt': 'n\n' });
  work({ 'b.txt': 'first\n' });
  const mine = work({ 'b.txt': 'second\n' });
  expect(await move(await plan())).toBe(true);
  expect(git(path, 'rev-parse', 'HEAD^1').trim()).toBe(mine);
  expect([tip() === mine, status(), read('new.txt')]).toEqual([false, '', 'n\n']);
});

test('a branch that somebody moves between plan and move is left alone', async () => {
  const { plan, move, work, tip } = await place();
  const found = await plan();
  const theirs = work({ 'c.txt': 'theirs\n' });
  expect(await move(found)).toBe(false);
  expect(tip()).toBe(theirs);
});

test('a move interrupted after the ref is finished, keeping staged and untracked files', async () => {
  const { plan, path, repository, root, ownDir, branch, status, read } = await place();
  write(path, { 'c.txt': 'edited\n', 'u.txt': 'u\n' });
  git(path, 'add', 'c.txt');
  const found = await plan();
  if (found.do !== 'move') throw new Error(found.do);
  const move = { ownDir, branch, from: found.from, to: found.to };
  expect(await finishRebase(repository, move)).toBe(false);
  git(root, 'update-ref', `refs/heads/${branch}`, found.to);
  writeFileSync(join(root, '.git/worktrees/tree/index.lock'), '');
  expect(await finishRebase(repository, move)).toBe(true);
  expect([status(), read('new.txt'), read('b.txt')]).toEqual(['M  c.txt\n?? u.txt\n', 'new\n', 'main\n']);
  // Once more is once too many, and changes nothing.
  const before = snapshot(path);
  expect(await finishRebase(repository, move)).toBe(true);
  expect(snapshot(path)).toEqual(before);
});

test('a move that can no longer be finished is undone', async () => {
  const { plan, path, repository, root, ownDir, branch, tip, status, read } = await place();
  const found = await plan();
  if (found.do !== 'move') throw new Error(found.do);
  git(root, 'update-ref', `refs/heads/${branch}`, found.to);
  write(path, { 'b.txt': 'edited meanwhile\n' });
  expect(await finishRebase(repository, { ownDir, branch, from: found.from, to: found.to })).toBe(false);
  expect([tip(), status(), read('b.txt')]).toEqual([found.from, ' M b.txt\n', 'edited meanwhile\n']);
});

test('nothing that a repository names runs, and files that need a filter are left alone [8.40]', async () => {
  const given = { ...files, '.gitattributes': '*.bin filter=evil\n*.txt diff=evil merge=evil\n' };
  const { plan, move, work, home, root, tip } = await place({ 'b.txt': 'main\n' }, given);
  const mine = work({ 'a.txt': 'mine\n' });
  const fired = plantCommands(home, root);
  expect(await move(await plan())).toBe(true);
  expect(tip()).not.toBe(mine);
  git(root, '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'commit.gpgSign=false', 'status');
  expect(fired()).toEqual([]);
});

test('files that would need a filter are refused [8.41]', async () => {
  const { plan, move, tip, base } = await place(
    { 'x.bin': 'raw\n' },
    { ...files, '.gitattributes': '*.bin filter=lfs\n' },
  );
  expect(await refusal(move(await plan()))).toMatch(/^conflict: .*filter/);
  expect(tip()).toBe(base);
});
