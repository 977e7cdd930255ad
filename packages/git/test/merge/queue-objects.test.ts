import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closeChain, mergeStep } from '../../src/merge/merge-step.ts';
import { exportCommits, hasCommit, importCommits } from '../../src/merge/queue-objects.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, refusal, snapshot, write } from '../fixture.ts';
import { plantCommands } from '../merging.ts';
import { atMs, objectFiles, queuePlace } from '../queueing.ts';

/** Gives the only object of a pack another name, in its index alone. */
function renameInIndex(path: string, from: string, to: string): void {
  const index = readFileSync(path);
  // Two words, then for each first byte how many names there are up to it, then the names.
  const fanOut = 8;
  for (let byte = 0; byte < 256; byte += 1) {
    index.writeUInt32BE(byte >= Number.parseInt(to.slice(0, 2), 16) ? 1 : 0, fanOut + 4 * byte);
  }
  const at = fanOut + 4 * 256;
  if (index.toString('hex', at, at + 20) !== from) throw new Error('the index is not as expected');
  index.write(to, at, 'hex');
  const body = index.subarray(0, -20);
  chmodSync(path, 0o600);
  writeFileSync(path, Buffer.concat([body, createHash('sha1').update(body).digest()]));
}

describe('imported objects', () => {
  test('stay, whatever the user deletes, and exclude what main has', async () => {
    const { root, main, repository, ownDir, branch } = await queuePlace();
    const tip = branch(main, { 'c.txt': 'c\n' }, { 'd/e.txt': 'e\n' });
    expect(await hasCommit(repository, ownDir, tip)).toBe(true);
    const before = snapshot(root);
    await importCommits(repository, ownDir, { tips: [tip], not: [main] });
    expect(snapshot(root)).toEqual(before);
    // Two commits, two trees for the first of them and the second, one directory, two files.
    expect(objectFiles(join(ownDir, 'objects'))).toHaveLength(7);
    git(root, 'reflog', 'expire', '--expire=now', '--all');
    git(root, 'gc', '--quiet', '--prune=now');
    expect(() => git(root, 'cat-file', '-e', tip)).toThrow();
    expect(await hasCommit(repository, ownDir, tip)).toBe(true);
    const request = { ownDir, onto: main, head: tip, method: 'squash' as const, message: 'x', atMs };
    expect(await mergeStep(repository, request)).toMatchObject({ do: 'merged' });
    expect(await hasCommit(repository, ownDir, 'd'.repeat(40))).toBe(false);
  });

  test('are copied once, and the next import completes a killed one', async () => {
    const { main, repository, ownDir, branch } = await queuePlace();
    const tip = branch(main, { 'c.txt': 'c\n' }, { 'd.txt': 'd\n' });
    const range = { tips: [tip, tip], not: [main] };
    await importCommits(repository, ownDir, range);
    const all = objectFiles(join(ownDir, 'objects'));
    await importCommits(repository, ownDir, range);
    expect(objectFiles(join(ownDir, 'objects'))).toEqual(all);
    for (const lost of all) {
      rmSync(lost);
      await importCommits(repository, ownDir, range);
      expect(objectFiles(join(ownDir, 'objects'))).toEqual(all);
    }
    expect(readdirSync(ownDir).filter((name) => name.startsWith('pawl-scratch'))).toEqual([]);
  });

  test('arrive as one pack if there are many', async () => {
    const { main, repository, ownDir, branch } = await queuePlace();
    const files = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`d/${at}.txt`, `file ${at}\n`]));
    await importCommits(repository, ownDir, { tips: [branch(main, files)], not: [main] });
    const names = objectFiles(join(ownDir, 'objects')).map((path) => path.slice(path.lastIndexOf('.')));
    expect(names.filter((name) => name === '.pack')).toHaveLength(1);
    expect(names.length).toBeLessThanOrEqual(3);
  });

  test('are refused if they do not match their id', async () => {
    const { root, main, repository, ownDir, branch } = await queuePlace();
    const tip = branch(main, { 'c.txt': 'good\n' });
    const good = git(root, 'rev-parse', `${tip}:c.txt`).trim();
    rmSync(join(root, '.git/objects', good.slice(0, 2), good.slice(2)));
    write(root, { 'evil.txt': 'evil\n' });
    const evil = git(root, 'hash-object', '-w', 'evil.txt').trim();
    const base = join(root, '.git/objects/pack/pack');
    write(root, { list: `${evil}\n` });
    const name = git(root, '-c', 'alias.x=!git pack-objects -q .git/objects/pack/pack <list', 'x').trim();
    renameInIndex(`${base}-${name}.idx`, evil, good);
    expect(git(root, 'cat-file', 'blob', good)).toBe('evil\n');
    expect(await refusal(importCommits(repository, ownDir, { tips: [tip], not: [main] }))).toMatch(
      /^git_failed: The object .* is damaged/,
    );
  });

  test('nothing planted in the repository runs, and a shallow history is no obstacle', async () => {
    const { home, root } = await queuePlace();
    const later = commitAll(root, 'later');
    const clone = join(home, 'clone');
    git(home, 'clone', '--quiet', '--depth=1', '--no-local', `file://${root}`, clone);
    write(clone, { 'c.txt': 'c\n' });
    const head = commitAll(clone, 'c');
    git(clone, 'checkout', '--quiet', '--detach', later);
    write(clone, { 'd.txt': 'd\n' });
    const onto = commitAll(clone, 'd');
    const fired = plantCommands(home, clone);
    const repository = await openRepository(clone);
    const ownDir = join(home, 'own-clone.git');
    await importCommits(repository, ownDir, { tips: [head], not: [onto] });
    for (const method of ['squash', 'merge', 'rebase'] as const) {
      const result = await mergeStep(repository, { ownDir, onto, head, method, message: 'x', atMs });
      if (result.do !== 'merged') throw new Error(result.do);
      await exportCommits(repository, ownDir, { tip: result.commit, not: [onto] });
    }
    expect(fired()).toEqual([]);
  });
});

describe('exported objects', () => {
  test('are complete for the user, and copied once', async () => {
    const { root, main, repository, ownDir, branch } = await queuePlace();
    const tips = [branch(main, { 'c.txt': 'c\n' }), branch(main, { 'd.txt': 'd\n' })];
    let tip = main;
    for (const head of tips) {
      const request = { ownDir, onto: tip, head, method: 'squash' as const, message: 'x', atMs };
      const result = await mergeStep(repository, request);
      if (result.do !== 'merged') throw new Error(result.do);
      tip = result.commit;
    }
    const to = await closeChain(repository, { ownDir, main, tip, message: 'both', atMs });
    expect(() => git(root, 'cat-file', '-e', to)).toThrow();
    await exportCommits(repository, ownDir, { tip: to, not: [main] });
    const all = objectFiles(join(root, '.git/objects'));
    await exportCommits(repository, ownDir, { tip: to, not: [main] });
    expect(objectFiles(join(root, '.git/objects'))).toEqual(all);
    rmSync(ownDir, { recursive: true });
    git(root, 'branch', 'result', to);
    expect(git(root, 'fsck', '--strict', '--no-dangling', '--no-progress')).toBe('');
    expect(git(root, 'ls-tree', '-r', '--name-only', to)).toBe('a.txt\nb.txt\nc.txt\nd.txt\n');
    expect(existsSync(ownDir)).toBe(false);
  });
});
