import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeCheckClone } from '../../src/merge/check-clone.ts';
import { mergeStep } from '../../src/merge/merge-step.ts';
import { importCommits } from '../../src/merge/queue-objects.ts';
import { tidyOwnDirectory } from '../../src/merge/tidy.ts';
import { git } from '../fixture.ts';
import { atMs, gitIn, objectFiles, queuePlace } from '../queueing.ts';

const everything = { objects: 1, packs: 2 };

/** All objects that are in Pawl's own git directory itself. */
function ownObjects(ownDir: string): string {
  return git(ownDir, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype) %(objectsize)');
}

/** Pawl's own git directory with a change put onto a commit, and two imported. */
async function chained() {
  const place = await queuePlace();
  const { repository, ownDir, main, branch } = place;
  const heads = ['c', 'd'].map((name) => branch(main, { [`${name}.txt`]: `${name}\n` }, { 'dir/x': `${name}\n` }));
  const onto = branch(main, { 'a.txt': 'a\n' });
  const request = { ownDir, onto, head: heads[0] ?? '', method: 'squash' as const, message: 'm', atMs };
  const step = await mergeStep(repository, request);
  if (step.do !== 'merged') throw new Error(step.do);
  await importCommits(repository, ownDir, { tips: heads, not: [main] });
  return { ...place, heads, tip: step.commit };
}

test('everything is packed, and nothing is lost, even if unreachable', async () => {
  const { repository, ownDir, root, main, branch } = await chained();
  const [before, loose] = [ownObjects(ownDir), objectFiles(join(ownDir, 'objects')).length];
  expect(loose).toBeGreaterThan(8);
  expect(await tidyOwnDirectory(repository, ownDir, everything)).toBe(true);
  expect(ownObjects(ownDir)).toBe(before);
  const packed = objectFiles(join(ownDir, 'objects'));
  expect(packed.every((path) => path.includes('/pack/'))).toBe(true);
  expect(packed.filter((path) => path.endsWith('.pack'))).toHaveLength(1);
  // More comes, as a pack and as single objects, and joins what is there.
  const more = branch(main, { 'e.txt': 'e\n' });
  await importCommits(repository, ownDir, { tips: [more], not: [] });
  const [then, packs] = [ownObjects(ownDir), objectFiles(join(ownDir, 'objects')).length];
  expect(then).not.toBe(before);
  await tidyOwnDirectory(repository, ownDir, everything);
  expect(ownObjects(ownDir)).toBe(then);
  expect(objectFiles(join(ownDir, 'objects')).length).toBeLessThan(packs);
  expect(gitIn(ownDir, root, 'fsck', '--no-dangling', '--connectivity-only', more)).toBe('');
});

test('objects that the user’s repository also has stay, as does the source of a running check', async () => {
  const { home, repository, ownDir, root, tip, heads } = await chained();
  const dir = join(home, 'check');
  await makeCheckClone(repository, { ownDir, commit: tip, dir });
  await tidyOwnDirectory(repository, ownDir, everything);
  expect(git(dir, 'status', '--porcelain')).toBe('');
  expect(git(dir, 'cat-file', 'commit', 'HEAD')).toContain('tree ');
  // The user deletes the branch for good.
  git(root, 'reflog', 'expire', '--expire=now', '--all');
  git(root, 'gc', '--quiet', '--prune=now');
  expect(() => git(root, 'cat-file', '-e', heads[0] ?? '')).toThrow('Command failed');
  expect(gitIn(ownDir, root, 'ls-tree', '-r', '--name-only', heads[0] ?? '')).toContain('c.txt');
});

test('a few objects stay loose; leftovers of a killed git go after a day', async () => {
  const { repository, ownDir } = await chained();
  const before = objectFiles(join(ownDir, 'objects'));
  const shard = join(ownDir, 'objects', readdirSync(join(ownDir, 'objects'))[0] ?? '');
  mkdirSync(join(ownDir, 'objects', 'pack'), { recursive: true });
  const [old, fresh] = [join(ownDir, 'objects', 'pack', 'tmp_pack_x'), join(shard, 'tmp_obj_y')];
  for (const path of [old, fresh]) writeFileSync(path, 'x');
  utimesSync(old, 1, 1);
  expect(await tidyOwnDirectory(repository, ownDir)).toBe(false);
  expect(objectFiles(join(ownDir, 'objects'))).toEqual([...before, fresh].sort());
});

test('a damaged object stays in place, and keeps no other from being packed', async () => {
  const { repository, ownDir } = await chained();
  const [victim = ''] = objectFiles(join(ownDir, 'objects'));
  const id = victim.split('/').slice(-2).join('');
  const others = ownObjects(ownDir).replace(new RegExp(`^${id}.*\n`, 'm'), '');
  rmSync(victim);
  writeFileSync(victim, 'nonsense');
  await tidyOwnDirectory(repository, ownDir, everything);
  expect(readFileSync(victim, 'utf8')).toBe('nonsense');
  expect(objectFiles(join(ownDir, 'objects')).filter((path) => !path.includes('/pack/'))).toEqual([victim]);
  rmSync(victim);
  expect(ownObjects(ownDir)).toBe(others);
});
