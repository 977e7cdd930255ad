import type { ChangeView } from '@pawl/protocol/changes/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon } from '../../support/daemon.ts';
import { fingerprint } from '../../support/errand.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../../support/merge-queue.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
  const config = configWith('echo passed', 'fixer: false\n');
  await commitFiles(daemon.repository, { '.pawl/config.yaml': config, 'a.txt': 'a\n' });
});
afterEach(() => daemon[Symbol.asyncDispose]());

const kinds = async () => (await daemon.client.inbox()).entries.map(({ kind }) => kind);

/** Resolves the conflict in a worktree, as a person would. */
async function resolve(path: string): Promise<void> {
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toMatch(/^<<<<<<< .*=======.*>>>>>>> /s);
  writeFileSync(join(path, 'a.txt'), 'both\n');
  await git(path, ['add', 'a.txt']);
}

test('a conflict of an idle agent is resolved in its worktree; the change keeps its author, and nothing waits any more', async () => {
  const agent = await daemon.work([
    { write: { path: 'a.txt', content: 'agent\n' } },
    { commit: 'feat: by the agent' },
    'complete',
    'complete',
  ]);
  await daemon.ended(agent.id);
  await commitFiles(daemon.repository, { 'a.txt': 'main\n' });
  const change = await waitUntil(
    async () => (await daemon.client.listChanges({ path: daemon.repository })).changes[0],
    { what: 'its change' },
  );
  // Its author is woken first; after its turn, a person is asked.
  const waiting = await reaches(daemon.client, change.id, 'needs-human-input', 'merged');
  if (waiting.state === 'merged') throw new Error('main did not move in time');
  await waitUntil(async () => (await kinds()).includes('conflict'), { what: 'the conflict in the inbox' });
  const begun = await daemon.client.fixChange(change.id);
  expect(begun).toMatchObject({ outcome: 'begun', path: agent.worktree, files: ['a.txt'] });
  expect(await daemon.client.fixChange(change.id)).toMatchObject({ outcome: 'already', files: ['a.txt'] });
  await expect(daemon.client.fixChange(change.id, { proceed: true })).rejects.toMatchObject({ code: 'conflict' });
  await expect(daemon.client.mergeChange(change.id)).rejects.toMatchObject({
    message: 'The queue ejected this change: it conflicts with main in a.txt.',
    hint: `Resolve the conflict: pawl change fix ${change.id.slice(0, 8)}`,
  });
  const author = await git(begun.path ?? '', ['log', '-1', '--format=%an <%ae>']);
  expect(author).not.toContain('pawl');
  await resolve(begun.path ?? '');
  const proposed = await daemon.client.fixChange(change.id, { proceed: true });
  expect(proposed).toMatchObject({ outcome: 'proposed', change: { title: 'feat: by the agent' } });
  const merged = await reaches(daemon.client, change.id, 'merged');
  expect(merged).toMatchObject({ author: { id: agent.id }, title: 'feat: by the agent' });
  expect(await git(daemon.repository, ['show', 'main:a.txt'])).toBe('both');
  const commit = await git(daemon.repository, ['log', '-1', '--format=%s|%an <%ae>', 'main']);
  expect(commit).toBe(`feat: by the agent|${author}`);
  expect(await kinds()).toEqual([]);
});

/** A person's change whose branch is checked out nowhere, ejected for a conflict. */
async function ejected(): Promise<ChangeView> {
  await daemon.client.addProject({ path: daemon.repository });
  await daemon.client.pauseQueue({ path: daemon.repository });
  const change = await propose(daemon.client, daemon.repository, 'topic', { 'a.txt': 'topic\n' });
  await commitFiles(daemon.repository, { 'a.txt': 'main\n' });
  await daemon.client.resumeQueue({ path: daemon.repository });
  return reaches(daemon.client, change.id, 'ejected');
}

test('a branch without a worktree gets one below the home, which is listed and pruned after the merge, and is not the person’s checkout', async () => {
  const change = await ejected();
  const before = fingerprint(daemon.repository);
  const { path } = await daemon.client.fixChange(change.id);
  expect(path?.startsWith(daemon.home.worktrees)).toBe(true);
  expect(fingerprint(daemon.repository)).toEqual(before);
  const listed = async () => (await daemon.client.worktrees()).worktrees.filter((each) => each.path === path);
  expect(await listed()).toMatchObject([{ state: 'retained', branch: 'topic', agent: null }]);
  await resolve(path ?? '');
  await git(path ?? '', ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid', 'commit', '-qm', 'resolved']);
  expect(await daemon.client.fixChange(change.id, { proceed: true })).toMatchObject({ outcome: 'proposed' });
  await daemon.client.pruneWorktrees({ olderThanMs: 60_000, force: false, dryRun: false });
  await reaches(daemon.client, change.id, 'merged');
  await daemon.client.pruneWorktrees({ olderThanMs: 60_000, force: false, dryRun: false });
  expect(await listed()).toMatchObject([{ state: 'trashed', branch: 'topic' }]);
  expect(existsSync(path ?? '')).toBe(false);
});

test('the person’s own checkout of the branch, a working author and a change without a conflict are refused or left alone', async () => {
  const change = await ejected();
  await git(daemon.repository, ['checkout', '-q', 'topic']);
  await expect(daemon.client.fixChange(change.id)).rejects.toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('git merge main') as string,
  });
  await git(daemon.repository, ['checkout', '-q', 'main']);
  const main = await commitFiles(daemon.repository, { 'a.txt': 'a\n' });
  await daemon.client.checkQueue({ path: daemon.repository });
  await waitUntil(async () => (await queueNow(daemon.client)).main === main, { what: 'the queue to see main' });
  expect(await daemon.client.fixChange(change.id)).toMatchObject({ outcome: 'clean', files: [] });
  const agent = await daemon.work([
    { write: { path: 'b.txt', content: 'b\n' } },
    { commit: 'feat: b' },
    { pawl: ['change', 'open', '--draft'] },
    'hang',
  ]);
  const own = await waitUntil(
    async () => (await daemon.client.listChanges()).changes.find(({ author }) => author?.id === agent.id),
    { what: 'its change' },
  );
  const atWork = { code: 'busy', message: `${agent.alias} is working on its branch.` };
  await expect(daemon.client.fixChange(own.id)).rejects.toMatchObject(atWork);
});
