import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, commitOn, configWith, propose, reaches } from '../support/merge-queue.ts';

/**
 * All of the person's state in a checkout, byte by byte: files, index, HEAD, operations in progress, stash, config,
 * hooks.
 */
async function imprint(checkout: string, gitDir = join(checkout, '.git')): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = (directory: string, name: string) => {
    for (const entry of readdirSync(directory).toSorted()) {
      if (name === '' && entry === '.git') continue;
      const path = join(directory, entry);
      const label = join(name, entry);
      const info = lstatSync(path);
      if (info.isDirectory()) visit(path, label);
      else found[label] = `${info.mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    }
  };
  visit(checkout, '');
  for (const name of ['index', 'HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'MERGE_MSG', 'config', 'COMMIT_EDITMSG']) {
    const path = join(gitDir, name);
    if (existsSync(path)) found[`.git/${name}`] = createHash('sha256').update(readFileSync(path)).digest('hex');
  }
  for (const name of ['hooks', 'rebase-merge'])
    if (existsSync(join(gitDir, name))) visit(join(gitDir, name), `.git/${name}`);
  found['stash'] = await git(checkout, ['stash', 'list']);
  found['status'] = await git(checkout, ['status', '--porcelain=v2']);
  return found;
}

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

let repositories = 0;

/** A project with a stash, a hook, a setting, and untracked files of the person. */
async function aCheckout(): Promise<Pick<TestDaemon, 'client' | 'repository'>> {
  const repository = join(daemon.repository, '..', `place-${++repositories}`, 'sample');
  await sampleRepository(repository);
  await commitFiles(repository, {
    '.pawl/config.yaml': configWith('ls'),
    'mine.txt': 'one\n',
    '.gitignore': 'ignored\n',
  });
  await git(repository, ['config', 'user.name', 'Ada']);
  await git(repository, ['config', 'user.email', 'ada@example.invalid']);
  await git(repository, ['config', 'core.pager', 'less']);
  writeFileSync(join(repository, 'mine.txt'), 'stashed\n');
  await git(repository, ['stash']);
  const hook = join(repository, '.git', 'hooks', 'post-merge');
  writeFileSync(hook, '#!/bin/sh\ntouch hook-ran\n');
  chmodSync(hook, 0o755);
  writeFileSync(join(repository, 'untracked'), 'u\n');
  writeFileSync(join(repository, 'ignored'), 'i\n');
  await daemon.client.addProject({ path: repository });
  return { client: daemon.client, repository };
}

const elsewhere: [string, (repository: string) => Promise<void>][] = [
  [
    'on another branch, with changes',
    async (repository) => {
      await git(repository, ['checkout', '--quiet', '-b', 'mine']);
      writeFileSync(join(repository, 'mine.txt'), 'changed\n');
      writeFileSync(join(repository, 'staged.txt'), 's\n');
      await git(repository, ['add', 'staged.txt']);
    },
  ],
  [
    'detached',
    async (repository) => {
      await git(repository, ['checkout', '--quiet', '--detach']);
      writeFileSync(join(repository, 'mine.txt'), 'changed\n');
    },
  ],
  [
    'in the middle of a rebase of another branch',
    async (repository) => {
      await commitOn(repository, 'upstream', { 'mine.txt': 'theirs\n' });
      await git(repository, ['checkout', '--quiet', '-b', 'mine']);
      await commitFiles(repository, { 'mine.txt': 'ours\n' });
      await expect(git(repository, ['rebase', 'upstream'])).rejects.toThrow();
    },
  ],
  [
    'in the middle of a merge into another branch',
    async (repository) => {
      await commitOn(repository, 'upstream', { 'mine.txt': 'theirs\n' });
      await git(repository, ['checkout', '--quiet', '-b', 'mine']);
      await commitFiles(repository, { 'mine.txt': 'ours\n' });
      await expect(git(repository, ['merge', 'upstream'])).rejects.toThrow();
    },
  ],
];

test.each(sampleOf(elsewhere, 2))(
  'main moves while the checkout is %s, which stays unchanged byte for byte [section 7]',
  async (_, prepare) => {
    const { client, repository } = await aCheckout();
    await prepare(repository);
    const before = await imprint(repository);
    const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
    const { mergedCommit } = await reaches(client, change.id, 'merged');
    expect(await git(repository, ['rev-parse', 'main'])).toBe(mergedCommit);
    expect(await imprint(repository)).toEqual(before);
  },
);

const waits: [string, (repository: string) => Promise<void>, RegExp, (repository: string) => Promise<unknown>][] = [
  [
    'has changes',
    async (repository) => writeFileSync(join(repository, 'mine.txt'), 'changed\n'),
    /uncommitted changes/,
    (repository) => git(repository, ['checkout', 'mine.txt']),
  ],
  [
    'has staged changes',
    async (repository) => {
      writeFileSync(join(repository, 'staged.txt'), 's\n');
      await git(repository, ['add', 'staged.txt']);
    },
    /uncommitted changes/,
    (repository) => git(repository, ['rm', '--quiet', '-f', 'staged.txt']),
  ],
  [
    'has an untracked file where one would come',
    async (repository) => writeFileSync(join(repository, 'one.txt'), 'mine, not theirs\n'),
    /in the way/,
    async (repository) => rmSync(join(repository, 'one.txt')),
  ],
  [
    'is in the middle of a rebase',
    async (repository) => {
      await commitOn(repository, 'upstream', { 'mine.txt': 'theirs\n' }, 'HEAD');
      await commitFiles(repository, { 'mine.txt': 'ours\n' });
      await expect(git(repository, ['rebase', 'upstream'])).rejects.toThrow();
    },
    /rebase/,
    (repository) => git(repository, ['rebase', '--abort']),
  ],
  [
    'is in the middle of a merge',
    async (repository) => {
      await commitOn(repository, 'upstream', { 'mine.txt': 'theirs\n' }, 'HEAD');
      await commitFiles(repository, { 'mine.txt': 'ours\n' });
      await expect(git(repository, ['merge', 'upstream'])).rejects.toThrow();
    },
    /merge is in progress/,
    (repository) => git(repository, ['merge', '--abort']),
  ],
];

test.each(sampleOf(waits, 2))(
  'a green change waits while main is checked out and %s; nothing is touched, and the reason is shown',
  async (_, prepare, why, clear) => {
    const { client, repository } = await aCheckout();
    await prepare(repository);
    const before = await imprint(repository);
    const tip = await git(repository, ['rev-parse', 'main']);
    const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
    const green = await reaches(client, change.id, 'green');
    expect(green.detail).toMatch(why);
    const { queues } = await client.listQueues();
    expect(queues.find(({ project }) => project.id === change.projectId)?.waiting).toMatchObject({
      reason: expect.stringMatching(why),
      changes: [change.id],
    });
    expect(await imprint(repository)).toEqual(before);
    expect(await git(repository, ['rev-parse', 'main'])).toBe(tip);
    await clear(repository);
    await reaches(client, change.id, 'merged');
    expect(readFileSync(join(repository, 'one.txt'), 'utf8')).toBe('one\n');
    expect(await git(repository, ['status', '--porcelain'])).toBe('?? untracked');
  },
);

test('a clean checkout of main follows, and nothing else of the person’s is touched', async () => {
  const { client, repository } = await aCheckout();
  const before = await imprint(repository);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, change.id, 'merged');
  const { 'one.txt': added, '.git/index': index, ...after } = await imprint(repository);
  const { '.git/index': indexBefore, ...rest } = before;
  expect(added).toBeDefined();
  expect(index).not.toBe(indexBefore);
  expect(after).toEqual(rest);
  expect(existsSync(join(repository, 'hook-ran'))).toBe(false);
});

test('a main checked out in a linked worktree follows there, and the main work tree stays', async () => {
  const { client, repository } = await aCheckout();
  await git(repository, ['checkout', '--quiet', '-b', 'mine']);
  const linked = join(repository, '..', 'linked');
  await git(repository, ['worktree', 'add', '--quiet', linked, 'main']);
  writeFileSync(join(linked, 'mine.txt'), 'changed\n');
  const before = await imprint(repository);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const green = await reaches(client, change.id, 'green');
  expect(green.detail).toContain('linked');
  await git(linked, ['checkout', 'mine.txt']);
  await reaches(client, change.id, 'merged');
  expect(readFileSync(join(linked, 'one.txt'), 'utf8')).toBe('one\n');
  expect(await git(linked, ['status', '--porcelain'])).toBe('');
  expect(await imprint(repository)).toEqual(before);
});

test('a queue keeps its branch when another one is checked out', async () => {
  const { client, repository } = await aCheckout();
  await git(repository, ['branch', '--quiet', '-m', 'main', 'trunk']);
  const one = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' }, 'trunk');
  await reaches(client, one.id, 'merged');
  await git(repository, ['switch', '--quiet', '--create', 'topic']);
  const topic = await git(repository, ['rev-parse', 'topic']);
  const two = await propose(client, repository, 'work/two', { 'two.txt': 'two\n' }, 'trunk');
  await reaches(client, two.id, 'merged');
  expect(await git(repository, ['rev-parse', 'topic'])).toBe(topic);
  expect(await git(repository, ['show', 'trunk:two.txt'])).toBe('two');
});
