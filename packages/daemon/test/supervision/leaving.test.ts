import { limits } from '@pawl/schema/limit';
import { updateChange } from '@pawl/store/changes/changes';
import { listMail } from '@pawl/store/mail/mail';
import { endurance } from '@pawl/testing/endurance';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { cleanedUp, completionMails } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';
import { withStore } from '../support/stores.ts';

const committed = [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'a' }, { complete: { summary: 'it works' } }];

/** A daemon whose project has a passing check; changes are merged on a person's request. */
async function withChecks(options: { clock?: () => number } = {}): Promise<TestDaemon> {
  const daemon = await startTestDaemon(options);
  await commitFiles(daemon.repository, { '.pawl/config.yaml': configWith('echo passed', 'queue: {auto: false}\n') });
  for (const role of ['supervisor', 'merge-queue'])
    daemon.define(role, { name: role, kind: 'main', class: 'persistent', role, mail: 'pull', description: role });
  await daemon.client.startCrew({ path: daemon.repository, provider: 'scripted' });
  return daemon;
}

const changeOf = async (daemon: TestDaemon, agentId: string) =>
  (await daemon.client.listChanges({ path: daemon.repository, all: true })).changes.find(
    (change) => change.agentId === agentId,
  );

async function announced(daemon: TestDaemon, agentId: string): Promise<void> {
  const isTold = async () =>
    (await daemon.client.events({ agent: agentId, limit: 1000 })).events.some(({ type }) => type === 'agent.finished');
  await waitUntil(isTold, { what: `${agentId} to be announced` });
}

/** The remaining worktrees, each with the reason that `pawl worktree ls` shows. */
const worktreesThere = async ({ client }: TestDaemon) =>
  (await client.worktrees()).worktrees
    .filter(({ state }) => state !== 'trashed')
    .map(({ agent, state, detail }) => ({ alias: agent?.alias, state, detail }));

describe('a worker that only signals done', () => {
  test('is announced once to supervisor and merge-queue, rests until its change is merged, and leaves no worktree [S4-10, S4-23, 7.12]', async () => {
    await using daemon = await withChecks();
    const { client } = daemon;
    const worker = await daemon.work(committed);
    await daemon.ended(worker.id);
    await announced(daemon, worker.id);
    const change = await changeOf(daemon, worker.id);
    expect(change).toMatchObject({ branch: worker.branch });
    const { members } = await client.crew({ path: daemon.repository });
    const told = (await completionMails(daemon.home.root, worker.id)).map(({ toId }) => toId);
    expect(told).toEqual(expect.arrayContaining([members[0]?.agent?.id, members[1]?.agent?.id]));
    await daemon.loops.health();
    expect(await viewOf(client, worker.id)).toMatchObject({ status: 'running', activity: 'idle' });
    expect(await worktreesThere(daemon)).toContainEqual({
      alias: worker.alias,
      state: 'in-use',
      detail: `done; its change ${change?.id} is open`,
    });
    await client.mergeChange(change?.id ?? '');
    expect(await cleanedUp(client, worker.id)).toMatchObject({
      detail: 'completed',
      run: { status: 'completed' },
      worktreeEnd: { state: 'trashed' },
    });
    expect(await completionMails(daemon.home.root, worker.id)).toHaveLength(told.length);
    expect(existsSync(`${worker.worktree}`)).toBe(false);
  });

  test('leaves when its change is closed', async () => {
    await using daemon = await withChecks();
    const worker = await daemon.work(committed);
    await announced(daemon, worker.id);
    const change = await changeOf(daemon, worker.id);
    await daemon.client.closeChange(change?.id ?? '', { reason: 'not wanted' });
    expect(await cleanedUp(daemon.client, worker.id)).toMatchObject({ detail: 'completed' });
  });

  test('with nothing to propose leaves a few minutes later; uncommitted files stay, flagged [7.11]', async () => {
    const clock = { now: Date.now() };
    await using daemon = await startTestDaemon({ clock: () => clock.now });
    const { client } = daemon;
    const [plain, dirty] = [
      await daemon.work([{ say: 'hi' }, 'complete']),
      await daemon.work([{ say: 'hi' }, 'complete']),
    ];
    for (const { id } of [plain, dirty]) {
      await daemon.ended(id);
      await announced(daemon, id);
    }
    writeFileSync(join(`${dirty.worktree}`, 'mine.txt'), 'mine');
    await daemon.loops.health();
    expect(await viewOf(client, plain.id)).toMatchObject({ status: 'running', activity: 'idle' });
    clock.now += limits.leaveMs;
    await daemon.loops.health();
    expect(await cleanedUp(client, plain.id)).toMatchObject({ worktreeEnd: { state: 'trashed' } });
    expect(await cleanedUp(client, dirty.id)).toMatchObject({ worktreeEnd: { state: 'retained' } });
    expect(existsSync(join(`${dirty.worktree}`, 'mine.txt'))).toBe(true);
    expect(await completionMails(daemon.home.root, plain.id)).toHaveLength(1);
  });
});

test('an agent that asks, fails or runs an errand is not announced, and stays', async () => {
  const clock = { now: Date.now() };
  await using daemon = await startTestDaemon({ clock: () => clock.now });
  const questions = { questions: [{ id: 'q', question: 'Which port?' }] };
  const agents = [
    await daemon.work([{ signal: { status: 'questions', ...questions } }]),
    await daemon.work([{ signal: { status: 'error', error: 'no' } }]),
    await daemon.work([{ say: 'hi' }, 'complete'], { mode: 'errand', task: 'a small one' }),
  ];
  for (const { id } of agents) await daemon.ended(id);
  clock.now += 10 * limits.leaveMs;
  await daemon.loops.health();
  for (const { id } of agents) {
    expect((await viewOf(daemon.client, id)).status).toBe('running');
    expect(await completionMails(daemon.home.root, id)).toEqual([]);
  }
});

test('a reviewer leaves when its review is over, and the merge queue is told once [S4-13]', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const scenario = await daemon.scenario([{ signal: { status: 'done', result: 'It is fine.' } }]);
  const review = `review: {as: review, provider: scripted, options: {scenario: ${JSON.stringify(scenario)}}}\n`;
  await commitFiles(repository, {
    '.pawl/config.yaml': configWith('echo passed', `queue: {auto: false}\n${review}`),
  });
  daemon.define('merge-queue', {
    name: 'merge-queue',
    kind: 'main',
    class: 'persistent',
    role: 'merge-queue',
    hears: ['reviews'],
    mail: 'pull',
    description: 'Merges.',
  });
  await client.startCrew({ path: repository, provider: 'scripted' });
  const worker = await daemon.work(committed);
  const reviewerId = await waitUntil(
    async () => {
      const { events } = await client.events({ limit: 1000 });
      return events.find(({ type }) => type === 'review.started')?.peerId;
    },
    { what: 'its review' },
  );
  expect(await cleanedUp(client, reviewerId)).toMatchObject({
    detail: 'completed',
    worktreeEnd: { state: 'trashed' },
  });
  const mails = await withStore(daemon.home.root, (store) => listMail(store.db, { limit: 100 }));
  const queue = (await client.crew({ path: repository })).members.find(({ role }) => role === 'merge-queue');
  const summaries = mails.filter(({ toId, body }) => toId === queue?.agent?.id && body.includes('It is fine.'));
  expect(summaries).toHaveLength(1);
  expect(await viewOf(client, worker.id)).toMatchObject({ status: 'running' });
});

test('agents of three kinds leave no worktree', async () => {
  const clock = { now: Date.now() };
  await using daemon = await startTestDaemon({ clock: () => clock.now });
  const { client, repository } = daemon;
  await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed') });
  const commits = (n: number) => [
    { write: { path: `${n}.txt`, content: 'a' } },
    { commit: `feat: ${n}` },
    { complete: { summary: 'it works' } },
  ];
  const kinds = [commits, () => [{ say: 'hi' }, 'complete'], () => [{ pawl: ['complete'] }]];
  const agents = [];
  for (let n = 0; n < endurance({ whole: 12, small: 3 }); n++)
    agents.push(await daemon.work(kinds[n % kinds.length]?.(n)));
  for (const [n, { id }] of agents.entries()) {
    await daemon.ended(id);
    if (n % kinds.length === 0) await cleanedUp(client, id);
  }
  clock.now += limits.leaveMs;
  await daemon.loops.health();
  for (const { id } of agents) await cleanedUp(client, id);
  expect(await worktreesThere(daemon)).toEqual([]);
});

test.each([
  ['by itself', false],
  ['by another agent that continued it', true],
])('a worker whose last run failed leaves when its change is merged after that, %s', async (_, isContinued) => {
  await using daemon = await withChecks();
  const { client } = daemon;
  const worker = await daemon.work([...committed, { signal: { status: 'error', error: 'no idea' } }]);
  await announced(daemon, worker.id);
  const change = await changeOf(daemon, worker.id);
  await client.resumeAgent(worker.id, { prompt: 'anything else?' }, randomUUID());
  await waitUntil(async () => (await viewOf(client, worker.id)).run?.status === 'failed', { what: 'its second run' });
  await daemon.loops.health();
  expect(await viewOf(client, worker.id)).toMatchObject({ status: 'running' });
  if (isContinued) {
    const other = (await client.crew({ path: daemon.repository })).members[0]?.agent?.id ?? '';
    await withStore(daemon.home.root, ({ write }) =>
      write((tx) => updateChange(tx, change?.id ?? '', { agentId: other })),
    );
  }
  await client.mergeChange(change?.id ?? '');
  expect(await cleanedUp(client, worker.id)).toMatchObject({ worktreeEnd: { state: 'trashed' } });
});

test('a subagent leaves a few minutes after the run that delegated to it', async () => {
  const clock = { now: Date.now() };
  await using daemon = await startTestDaemon({ clock: () => clock.now });
  const { client, home } = daemon;
  daemon.define('chief', { kind: 'main', class: 'persistent', provider: 'scripted', policy: ['Delegate'] });
  daemon.define('finder', { kind: 'subagent', tools: ['*'], provider: 'scripted' });
  const lead = await daemon.work(['hang'], { definition: 'chief' });
  await waitUntil(async () => (await viewOf(client, lead.id)).activity === 'running', { what: 'it to run' });
  const options = { scenario: await daemon.scenario(['complete']) };
  const given = await agentClient(home, lead.id).delegate({ target: 'finder', task: 'find it', options }, randomUUID());
  await daemon.ended(given.agent.id);
  clock.now += limits.leaveMs;
  await daemon.loops.health();
  expect((await worktreesThere(daemon)).find(({ alias }) => alias === given.agent.alias)?.detail).toBe(
    'done; the agent that delegated to it is at work',
  );
  await client.stopAgent(lead.id);
  await daemon.ended(lead.id);
  await daemon.loops.health();
  expect(await cleanedUp(client, given.agent.id)).toMatchObject({ worktreeEnd: { state: 'trashed' } });
});
