import type { Client } from '@pawl/protocol/client';
import type { AgentView } from '@pawl/protocol/agents/view';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, startTestDaemon, viewOf, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { committing } from '../support/errand.ts';

/** Kills an agent and returns the name of its worktree in the trash. */
async function trashed(client: Client, { id }: Pick<AgentView, 'id'>): Promise<string> {
  await client.killAgent(id, {});
  const { worktreeEnd } = await waitUntil(
    async () => {
      const agent = await viewOf(client, id);
      return agent.worktreeEnd === null ? null : agent;
    },
    { what: 'the worktree to be settled' },
  );
  if (worktreeEnd?.state !== 'trashed') throw new Error(`it is ${worktreeEnd?.state}`);
  return worktreeEnd.entry;
}

test('trashed worktrees of a moved repository are listed, restored and pruned at its new path', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const steps = [...committing('a.txt', 'a'), 'complete'];
  const [one, other] = [await daemon.work(steps), await daemon.work(steps)];
  for (const { id } of [one, other]) await daemon.ended(id);
  const entries = [await trashed(client, one), await trashed(client, other)];
  // No worktree of an agent is left: the branches identify the repository.
  const place = `${repository}-moved`;
  renameSync(repository, place);
  const { project, created } = await client.addProject({ path: place });
  expect({ created, root: project.root }).toEqual({ created: false, root: place });
  const { worktrees } = await client.worktrees();
  expect(worktrees.filter(({ entry }) => entry !== null).map((each) => each.project)).toEqual(['sample', 'sample']);
  const { path } = await client.restoreWorktree(entries[0] ?? '');
  expect(path).toBe(one.worktree);
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a');
  expect(await git(path, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe(`work/${one.alias}`);
  const answer = await client.pruneWorktrees({ olderThanMs: 0, force: true, dryRun: false });
  expect(answer.pruned).toEqual([entries[1]]);
});

test('another repository is not a moved project, even with a branch of the same name', async () => {
  await using daemon = await startTestDaemon();
  await using place = await temporaryDirectory();
  const agent = await daemon.work([...committing('a.txt', 'a'), 'complete']);
  await daemon.ended(agent.id);
  await trashed(daemon.client, agent);
  const stranger = join(place.path, 'stranger');
  await sampleRepository(stranger);
  await git(stranger, ['branch', `work/${agent.alias}`]);
  renameSync(daemon.repository, `${daemon.repository}-away`);
  expect(await daemon.client.addProject({ path: stranger })).toMatchObject({ created: true });
});

test('a move whose daemon is killed at move.after_notes is completed by the next `pawl init`', async () => {
  await using place = await temporaryDirectory();
  const [home, repository, moved] = ['home', 'sample', 'moved'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  await sampleRepository(repository);
  const first = await readyDaemon(home, { crashAt: 'move.after_notes' });
  await first.client.addProject({ path: repository });
  const options = { scenario: await writeScenario(place.path, [...committing('a.txt', 'a'), 'complete']) };
  const request = { path: repository, task: 'a task', provider: 'scripted', options };
  const { agent } = await first.client.work(request, randomUUID());
  await runEnded(first.client, agent.id);
  const entry = await trashed(first.client, agent);
  renameSync(repository, moved);
  await first.client.addProject({ path: moved }).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    expect(await second.client.addProject({ path: moved })).toMatchObject({ created: false });
    expect(await second.client.restoreWorktree(entry)).toEqual({ path: agent.worktree });
  } finally {
    await second.kill('SIGTERM');
  }
});
