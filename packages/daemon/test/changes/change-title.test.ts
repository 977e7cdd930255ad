import type { AgentView } from '@pawl/protocol/agents/view';
import type { ChangeView } from '@pawl/protocol/changes/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { patchChange, startQuietDaemon } from '../support/change.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { committing, doneErrand } from '../support/errand.ts';
import { commitFiles, commitOn } from '../support/merge-queue.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startQuietDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const titlesOf = async (agent: Pick<AgentView, 'id'>): Promise<string[]> =>
  (await changesOf(agent)).map(({ title }) => title);

async function changesOf(agent: Pick<AgentView, 'id'>): Promise<ChangeView[]> {
  const { changes } = await daemon.client.listChanges({ path: daemon.repository, all: true });
  return changes.filter(({ author }) => author?.id === agent.id);
}

async function changes(agent: Pick<AgentView, 'id'>, count: number): Promise<ChangeView[]> {
  return waitUntil(
    async () => {
      const found = await changesOf(agent);
      return found.length === count ? found : undefined;
    },
    { what: `${count} changes` },
  );
}

/** Squashes an agent's branch into main by hand, and records it as the queue would. */
async function squashed(change: ChangeView): Promise<void> {
  const files = (await git(daemon.repository, ['diff', '--name-only', `main...${change.head}`])).split('\n');
  const contents: Record<string, string> = {};
  for (const file of files) contents[file] = await git(daemon.repository, ['show', `${change.head}:${file}`]);
  const commit = await commitFiles(daemon.repository, contents, 'squashed');
  await patchChange(daemon, change, { mergedAt: Date.now(), mergedCommit: commit });
}

test('a single commit titles its change, also after an amend; a given title stays', async () => {
  const open = async (branch: string, body = {}) =>
    (await daemon.client.openChange({ path: daemon.repository, branch, ...body })).change.title;
  await commitOn(daemon.repository, 'one', { 'one.txt': '1' });
  expect(await open('one')).toBe('work on one');
  await commitFilesOn('one', 'amended');
  expect(await open('one')).toBe('amended');
  expect(await open('one', { title: 'Mine' })).toBe('amended');
  await commitFilesOn('one', 'amended again');
  expect(await open('one', { title: 'Mine' })).toBe('Mine');
  await commitFilesOn('one', 'amended once more');
  expect(await open('one')).toBe('Mine');
});

/** Replaces a branch by one commit on main with this subject. */
async function commitFilesOn(branch: string, subject: string): Promise<void> {
  const tree = await git(daemon.repository, ['rev-parse', `${branch}^{tree}`]);
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.invalid'];
  const args = [...identity, 'commit-tree', tree, '-p', 'main', '-m', subject];
  const commit = await git(daemon.repository, args);
  await git(daemon.repository, ['branch', '--force', branch, commit]);
}

test('an agent’s only commit titles its change; with several, the assignment does', async () => {
  const one = await daemon.work([...committing('a1.txt', 'x'), 'complete'], { task: 'Do one thing' });
  const two = await daemon.work([...committing('a2.txt', 'x'), ...committing('a3.txt', 'x'), 'complete'], {
    task: 'Do two things\nwith care',
  });
  await changes(one, 1);
  await changes(two, 1);
  expect(await titlesOf(one)).toEqual(['write a1.txt']);
  expect(await titlesOf(two)).toEqual(['Do two things']);
});

test('commits after a merge get their own title, never a prompt', async () => {
  const steps = [
    ...committing('b1.txt', 'x'),
    ...committing('b2.txt', 'x'),
    'complete',
    ...committing('b3.txt', 'x'),
    ...committing('b4.txt', 'x'),
    'complete',
  ];
  const agent = await daemon.ended((await daemon.work(steps, { task: 'The first thing' })).id);
  const [first] = await changes(agent, 1);
  if (first === undefined) throw new Error('there is no change');
  expect(first.title).toBe('The first thing');
  await squashed(first);
  await daemon.client.sendMail({ to: agent.alias, body: 'one thing more' }, randomUUID());
  await changes(agent, 2);
  expect(await titlesOf(agent)).toEqual(['write b4.txt', 'The first thing']);
  const { tasks } = await daemon.client.taskHistory({ path: daemon.repository });
  expect(tasks.find((each) => each.agent.id === agent.id)).toMatchObject({ task: 'The first thing' });
});

test('the task history shows a merged errand as merged, an abandoned one as closed, and omits a fork that never ran', async () => {
  const merged = await doneErrand(daemon, committing('d1.txt', 'x'), 'fix the typo');
  const dropped = await doneErrand(daemon, committing('d2.txt', 'x'), 'fix another');
  const { agent: fork } = await daemon.client.fork('root', { path: daemon.repository, switch: false }, randomUUID());
  await daemon.client.mergeErrand(merged.id, {});
  await daemon.client.abandonErrand(dropped.id);
  const { tasks } = await daemon.client.taskHistory({ path: daemon.repository, limit: 2 });
  expect(tasks.map(({ agent, state, task }) => [agent.id, state, task])).toEqual([
    [dropped.id, 'closed', 'fix another'],
    [merged.id, 'merged', 'fix the typo'],
  ]);
  expect(tasks.some(({ agent }) => agent.id === fork.id)).toBe(false);
});
