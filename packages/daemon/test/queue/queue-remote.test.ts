import { followIntents } from '@pawl/daemon/changes/landing/local-branch';
import { listProjects } from '@pawl/store/projects/projects';
import type { Client } from '@pawl/protocol/client';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, commitOn, configWith, everyTip, propose, queueNow, reaches } from '../support/merge-queue.ts';
import { storeOf } from '../support/stores.ts';

/** A daemon whose project was cloned from a bare origin, which records every move of its main. */
async function startClone(run = 'ls'): Promise<TestDaemon & { origin: string }> {
  const daemon = await startTestDaemon();
  const { repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(origin, ['config', 'core.logAllRefUpdates', 'always']);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await git(repository, ['fetch', '--quiet', 'origin']);
  await daemon.client.allowPush({ path: repository });
  return Object.assign(daemon, { origin });
}

/** Whether local main has the merged commit, once that is decided. */
async function settledLocal(client: Client, id: string): Promise<unknown> {
  return waitUntil(
    async () => {
      const { local } = await client.showChange(id);
      return local?.state === 'pending' ? undefined : local;
    },
    { what: 'local main to follow, or to stay' },
  );
}

test('main on origin moves by checked commits only, and the clean checkout follows', async () => {
  await using daemon = await startClone();
  const { client, repository, origin } = daemon;
  const before = await git(origin, ['rev-parse', 'main']);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const { mergedCommit } = await reaches(client, change.id, 'merged');
  expect(await git(origin, ['rev-parse', 'main'])).toBe(mergedCommit);
  expect(await everyTip(origin)).toEqual([mergedCommit]);
  expect(await git(origin, ['log', '-1', '--format=%P', 'main'])).toBe(before);
  expect(await settledLocal(client, change.id)).toEqual({ branch: 'main', state: 'followed', reason: null });
  expect(await git(repository, ['rev-parse', 'main'])).toBe(mergedCommit);
  expect(await git(repository, ['rev-parse', 'origin/main'])).toBe(mergedCommit);
  expect(await git(repository, ['status', '--porcelain'])).toBe('');
  // Between the move of the branch and the update of its files.
  const store = storeOf(daemon.home.root);
  const [project] = await listProjects(store.db);
  const begun = { projectId: project?.id ?? '', branch: 'main', from: before, to: mergedCommit ?? '' };
  await store.write((tx) => followIntents.set(tx, begun));
  expect((await client.showChange(change.id)).local).toEqual({ branch: 'main', state: 'pending', reason: null });
});

test('another’s push while the checks run is never overwritten; the change is checked with it', async () => {
  const daemon = await startTestDaemon();
  await using _ = daemon;
  const gate = join(daemon.repository, '..', 'gate');
  const run = `echo waiting; until [ -e '${gate}' ]; do sleep 0.05; done`;
  const { client, repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(origin, ['config', 'core.logAllRefUpdates', 'always']);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await client.allowPush({ path: repository });
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, change.id, 'testing');
  const outside = await commitOn(origin, 'main', { 'outside.txt': 'theirs\n' });
  writeFileSync(gate, '');
  const { mergedCommit } = await reaches(client, change.id, 'merged');
  expect(await everyTip(origin)).toEqual([outside, mergedCommit]);
  const { checks } = await client.showChange(change.id);
  expect(checks.find(({ outcome }) => outcome === 'passed')).toMatchObject({ onto: outside, commit: mergedCommit });
});

test('a dirty checkout stays, and origin moves anyway', async () => {
  await using daemon = await startClone();
  const { client, repository, origin } = daemon;
  const tip = await git(repository, ['rev-parse', 'main']);
  writeFileSync(join(repository, 'README.md'), 'changed\n');
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const { mergedCommit } = await reaches(client, change.id, 'merged');
  expect(await git(origin, ['rev-parse', 'main'])).toBe(mergedCommit);
  expect(await settledLocal(client, change.id)).toEqual({
    branch: 'main',
    state: 'behind',
    reason: expect.stringContaining(repository) as string,
  });
  expect((await queueNow(client)).advice).toContainEqual(expect.stringMatching(/^local main is behind the remote’s: /));
  expect(await git(repository, ['rev-parse', 'main'])).toBe(tip);
  expect(await git(repository, ['status', '--porcelain'])).toBe('M README.md');
});

test('an origin that refuses keeps the change waiting, with its message', async () => {
  await using daemon = await startClone();
  const { client, repository, origin } = daemon;
  const hook = join(origin, 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\necho "only on weekdays" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const tip = await git(origin, ['rev-parse', 'main']);
  const change = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  const green = await reaches(client, change.id, 'green');
  expect(green.detail).toContain('only on weekdays');
  expect((await queueNow(client)).waiting?.changes).toEqual([change.id]);
  expect(await git(origin, ['rev-parse', 'main'])).toBe(tip);
  writeFileSync(hook, '#!/bin/sh\nexit 0\n');
  await reaches(client, change.id, 'merged');
});
