import { endurance } from '@pawl/testing/endurance';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { expect, test } from 'vitest';
import { isThere } from '../../src/worktree/move.ts';
import { listSnapshots, takeSnapshot } from '../../src/snapshot/snapshot.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { listWorktrees } from '../../src/worktree/worktree-list.ts';
import { filesOf, setUpSnapshot, stateOf, witness } from '../carried.ts';
import { dieAt, killAfter } from '../crash-process.ts';
import { git, write } from '../fixture.ts';

async function setUp(fileCount = 3) {
  const files = Object.fromEntries(Array.from({ length: fileCount }, (_, i) => [`d${i % 7}/f${i}.txt`, `file ${i}\n`]));
  const place = await setUpSnapshot('linked', files);
  write(place.parent, { 'd0/f0.txt': 'changed\n', 'd1/f1.txt': 'staged\n' });
  write(place.parent, Object.fromEntries(Array.from({ length: fileCount }, (_, i) => [`new/n${i}`, `${i}\n`])));
  git(place.parent, 'add', 'd1');
  const name = newId();
  const { ownDir, repository, root, parent } = place;
  const take = { ownDir, path: parent, name };
  const path = join(place.home, 'trees', 'otter');
  const add = (head: string, commit: string) => {
    return { ownDir, path, branch: 'work/otter', base: head, snapshot: { name, commit } };
  };
  return { place, repository, root, parent, ownDir, name, take, path, add };
}

test('a snapshot that dies after storing contents can be repeated, and leaves nothing behind', async () => {
  const { place, repository, root, ownDir, name, take } = await setUp();
  const before = witness(place);
  const earlier = await takeSnapshot(repository, take);
  write(place.parent, { 'new/more': 'more\n' });
  await dieAt('snapshot.after_objects', { root, operation: 'takeSnapshot', ...take });
  // The earlier one is as it was, and the child that it was for can still be made.
  expect(await isThere(join(ownDir, 'pawl-snapshots', name, earlier.commit, 'about.json'))).toBe(true);
  const { commit } = await takeSnapshot(repository, take);
  expect(readdirSync(join(ownDir, 'pawl-snapshots', name))).toEqual([commit]);
  expect(await listSnapshots(ownDir)).toEqual([name]);
  expect(witness(place).index).toEqual(before.index);
});

test('a worktree that dies before its index is in place is started again', async () => {
  const { repository, root, parent, take, path, add } = await setUp();
  const { head, commit } = await takeSnapshot(repository, take);
  const request = add(head, commit);
  await dieAt('snapshot.after_index', { root, ...request });
  const admin = join(root, '.git/worktrees/otter');
  expect(existsSync(join(path, 'new/n0'))).toBe(true);
  expect(existsSync(join(admin, 'index'))).toBe(false);
  // A half-written file, and a lock, as a kill of git itself would leave them.
  write(path, { 'new/n1': 'half' });
  write(admin, { 'pawl-files.lock': '', 'pawl-files': 'x' });
  await addWorktree(repository, request);
  expect(stateOf(path)).toEqual(stateOf(parent));
  expect(filesOf(path)).toEqual(filesOf(parent));
  expect(readdirSync(admin).filter((file) => file.startsWith('pawl-'))).toEqual([]);
  expect(lstatSync(join(admin, 'index')).isFile()).toBe(true);
});

test('a worktree that dies when registered is started again', async () => {
  const { repository, root, parent, take, path, add } = await setUp();
  const { head, commit } = await takeSnapshot(repository, take);
  await dieAt('spawn.after_worktree_add', { root, ...add(head, commit) });
  expect(readdirSync(path)).toEqual(['.git']);
  await addWorktree(repository, add(head, commit));
  expect(stateOf(path)).toEqual(stateOf(parent));
});

test('killed at many moments, with and without its git commands', async () => {
  const { place, repository, root, parent, ownDir, name, take, path, add } = await setUp(120);
  const before = witness(place);
  const rounds = endurance({ whole: 4, small: 2 });
  for (let round = 0; round < rounds; round += 1) {
    await killAfter((round * 100) / rounds, round % 2 === 0, { root, operation: 'takeSnapshot', ...take });
    const { head, commit } = await takeSnapshot(repository, take);
    expect(readdirSync(join(ownDir, 'pawl-snapshots', name))).toEqual([commit]);
    await killAfter((round * 60) / rounds, round % 2 === 0, { root, ...add(head, commit) });
    await addWorktree(repository, add(head, commit));
    expect(stateOf(path)).toEqual(stateOf(parent));
    expect(filesOf(path)).toEqual(filesOf(parent));
    git(root, 'worktree', 'remove', '--force', path);
    git(root, 'branch', '--quiet', '-D', 'work/otter');
    expect(await listWorktrees(repository)).toHaveLength(2);
  }
  expect(witness(place)).toEqual(before);
});
