import { waitUntil } from '@pawl/testing/wait-until';
import { git } from '@pawl/testing/sample-repository';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon } from '../../support/daemon.ts';
import { allEvents } from '../../support/mail.ts';
import { checkScript, commitFiles, configWith, queueNow, reaches } from '../../support/merge-queue.ts';

/** Each of these waits for several agents and several checks, one after the other. */
/** A daemon whose project has a check, and these lines about the agents of its queue. */
async function startProject(daemon: TestDaemon, lines: string[]): Promise<void> {
  const config = configWith('sh check.sh', lines.map((line) => `${line}\n`).join(''));
  await commitFiles(daemon.repository, { 'check.sh': checkScript(), '.pawl/config.yaml': config });
}

const staffLine = (name: string, definition: string, scenario: string) =>
  `${name}: {as: ${definition}, provider: scripted, options: {scenario: ${JSON.stringify(scenario)}}}`;

const eventsOf = async ({ client }: TestDaemon, type: string) =>
  (await allEvents(client)).filter((event) => event.type === type);

/** The only change there is. */
async function onlyChange({ client, repository }: TestDaemon): Promise<string> {
  return waitUntil(async () => (await client.listChanges({ path: repository, all: true })).changes[0]?.id, {
    what: 'a change',
  });
}

test('a worker whose change breaks the checks is woken with the log, fixes it, and it is merged [S4-01, S4-08]', async () => {
  await using daemon = await startTestDaemon();
  await startProject(daemon, ['fixer: false']);
  const worker = await daemon.work([
    { write: { path: 'bad.txt', content: 'x\n' } },
    { commit: 'feat: something bad' },
    { pawl: ['change', 'open', '--title', 'Something'] },
    'complete',
    'echo_prompt',
    { shell: 'git rm -q bad.txt && echo y > good.txt && git add good.txt && git commit -qm "fix: good now"' },
    { pawl: ['change', 'open'] },
    'complete',
  ]);
  const id = await onlyChange(daemon);
  const merged = await reaches(daemon.client, id, 'merged');
  expect(merged).toMatchObject({ returns: 1, author: { id: worker.id } });
  expect(await git(daemon.repository, ['show', 'main:good.txt'])).toBe('y');
  expect(await eventsOf(daemon, 'change.ejected')).toHaveLength(1);
  expect(await eventsOf(daemon, 'change.returned')).toMatchObject([{ data: { to: worker.id } }]);
});

test('a change whose author is gone is fixed by a stand-in, and follows its branch', async () => {
  await using daemon = await startTestDaemon();
  const scenario = await daemon.scenario([
    { shell: 'git rm -q bad.txt && echo y > good.txt && git add good.txt && git commit -qm "fix: good now"' },
    { pawl: ['change', 'open'] },
    'complete',
  ]);
  await startProject(daemon, [staffLine('fixer', 'worker', scenario)]);
  const worker = await daemon.work([
    { write: { path: 'bad.txt', content: 'x\n' } },
    { commit: 'feat: something bad' },
    { pawl: ['change', 'open', '--title', 'Something'] },
    { pawl: ['complete'] },
    'complete',
  ]);
  const merged = await reaches(daemon.client, await onlyChange(daemon), 'merged');
  // The stand-in repairs it; it is still the worker's change.
  expect(merged.author?.id).toBe(worker.id);
  expect(merged.agentId).not.toBe(worker.id);
  const { tasks } = await daemon.client.taskHistory({ path: daemon.repository });
  expect(tasks.find(({ agent }) => agent.id === worker.id)).toMatchObject({ state: 'merged', changeId: merged.id });
  expect(merged.title).toBe('Something');
  const files = await git(daemon.repository, ['ls-tree', '--name-only', 'main']);
  expect(files).toContain('good.txt');
  expect(files).not.toContain('bad.txt');
});

test('a reviewer blocks a change by a comment, the author addresses it, and it is reviewed again and merged [S4-13, S4-14]', async () => {
  await using daemon = await startTestDaemon();
  const scenario = await daemon.scenario([
    { shell: 'test -e second.txt || pawl change comment work/calm-fox "[BLOCKING] second.txt is missing"' },
    { signal: { status: 'done', result: 'Reviewed.' } },
  ]);
  await startProject(daemon, ['fixer: false', staffLine('review', 'review', scenario)]);
  const steps = [
    { write: { path: 'first.txt', content: 'x\n' } },
    { commit: 'feat: first' },
    { pawl: ['change', 'open'] },
    'complete',
    { write: { path: 'second.txt', content: 'y\n' } },
    { commit: 'feat: second' },
    { pawl: ['change', 'open'] },
    'complete',
  ];
  const worker = await daemon.work(steps, { alias: 'calm-fox' });
  const id = await onlyChange(daemon);
  await reaches(daemon.client, id, 'blocked');
  const moved = await waitUntil(async () => (await eventsOf(daemon, 'change.moved'))[0], {
    what: 'a new head',
  });
  expect(moved.agentId).toBe(worker.id);
  const { comments } = await daemon.client.showChange(id);
  expect(comments).toMatchObject([{ kind: 'blocking', addressedAt: null }]);
  const body = { body: 'it is there now', addresses: comments[0]?.id ?? '' };
  await daemon.client.commentChange(id, body);
  await reaches(daemon.client, id, 'merged');
  expect(await eventsOf(daemon, 'review.started')).toHaveLength(2);
  expect((await eventsOf(daemon, 'review.ended')).map(({ data }) => data['blocking'])).toEqual([1, 0]);
});

test('a red main is repaired by its fix worker, and the emergency ends [S4-06]', async () => {
  await using daemon = await startTestDaemon();
  const scenario = await daemon.scenario([
    { shell: 'git rm -q bad.txt && git commit -qm "fix: main is green again"' },
    { pawl: ['change', 'open'] },
    'complete',
  ]);
  await startProject(daemon, [staffLine('fixer', 'worker', scenario)]);
  await commitFiles(daemon.repository, { 'bad.txt': 'x\n' }, 'outside push');
  await daemon.client.checkQueue({ path: daemon.repository });
  await waitUntil(async () => (await eventsOf(daemon, 'emergency.ended')).length === 1, {
    what: 'the end',
  });
  expect((await queueNow(daemon.client)).emergency).toBeNull();
  expect(await git(daemon.repository, ['ls-tree', '--name-only', 'main'])).not.toContain('bad.txt');
  const workers = (await eventsOf(daemon, 'agent.forked')).filter(({ data }) => data['parentId'] !== null);
  expect(workers).toHaveLength(1);
});
