import { git } from '@pawl/testing/sample-repository';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles } from '../support/merge-queue.ts';

test('work, an errand and a fork from a linked worktree start at its own HEAD, in the same project', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const linked = join(repository, '..', 'linked');
  await git(repository, ['worktree', 'add', '-b', 'topic', linked]);
  const own = await commitFiles(linked, { 'topic.txt': 'x' });
  const main = await git(repository, ['rev-parse', 'main']);
  expect(own).not.toBe(main);
  const { project, created } = await client.addProject({ path: linked });
  expect(created).toBe(false);
  for (const mode of ['execute', 'errand'] as const) {
    const agent = await daemon.work(['complete'], { path: linked, mode });
    expect(agent).toMatchObject({ baseCommit: own, project: { id: project.id } });
    await daemon.ended(agent.id);
  }
  expect((await daemon.work(['complete'], { path: linked, base: 'HEAD~1' })).baseCommit).toBe(main);
  expect((await daemon.work(['complete'])).baseCommit).toBe(main);
  const fork = await daemon.fork('root', { path: linked, provider: 'scripted', switch: false });
  expect(fork.baseCommit).toBe(own);
  const { change } = await client.openChange({ path: linked, branch: 'topic' });
  expect(change).toMatchObject({ branch: 'topic', head: own, project: { id: project.id } });
  // The queue's target is the repository's main branch, whatever is checked out where.
  expect(await git(linked, ['rev-parse', 'HEAD'])).toBe(own);
});

test('a linked worktree starts at its own HEAD even with a remote; the main checkout starts at the remote’s main', async () => {
  await using daemon = await startTestDaemon();
  const { repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await git(repository, ['clone', '-q', '--bare', repository, origin]);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await git(repository, ['fetch', '-q', 'origin']);
  const remote = await git(repository, ['rev-parse', 'origin/main']);
  const linked = join(repository, '..', 'linked');
  await git(repository, ['worktree', 'add', '-b', 'topic', linked]);
  const own = await commitFiles(linked, { 'topic.txt': 'x' });
  await commitFiles(repository, { 'local.txt': 'x' });
  const agent = await daemon.work(['complete'], { path: linked });
  expect(agent.baseCommit).toBe(own);
  expect((await daemon.fork('root', { path: linked, provider: 'scripted', switch: false })).baseCommit).toBe(own);
  expect((await daemon.work(['complete'])).baseCommit).toBe(remote);
  // An agent's worktree does not belong to the person.
  const { worktree } = await daemon.ended(agent.id);
  await commitFiles(worktree ?? '', { 'agent.txt': 'x' });
  expect((await daemon.work(['complete'], { path: worktree ?? '' })).baseCommit).toBe(remote);
});
