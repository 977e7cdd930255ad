import { routes } from '@pawl/protocol/routes';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { EventType } from '@pawl/schema/event';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAs } from './questions/asking.ts';
import { agentClient } from './support/agent-client.ts';
import type { TestDaemon } from './support/daemon.ts';
import { startTestDaemon, viewOf } from './support/daemon.ts';
import { committing, doneErrand } from './support/errand.ts';
import { allEvents } from './support/mail.ts';
import { checkScript, commitFiles, commitOn, configWith, propose, queueNow, reaches } from './support/merge-queue.ts';

const hourMs = 60 * 60 * 1000;

/** No sweep, tick or poll of the daemon can replace a missing wake. */
const noFloors = {
  livenessMs: hourMs,
  routeMs: hourMs,
  healthMs: hourMs,
  nudgeMs: hourMs,
  nudgeGapMs: hourMs,
  queueMs: hourMs,
  queueWaitMs: hourMs,
  adoptionMs: hourMs,
};

/**
 * How the effect of each route that changes something happens: by listeners, in the suite of that name, or within the
 * request itself, so that nothing must be woken.
 */
const effects: Record<ChangingRoute, 'agents' | 'accounts' | 'crew' | 'queue' | 'push' | 'itself'> = {
  work: 'agents',
  fork: 'agents',
  delegate: 'agents',
  resumeAgent: 'agents',
  tellAgent: 'agents',
  replyAgent: 'agents',
  killAgent: 'agents',
  cancelRun: 'agents',
  agentCancel: 'agents',
  chat: 'agents',
  completeAgent: 'agents',
  sendErrand: 'agents',
  mergeErrand: 'agents',
  abandonErrand: 'agents',
  sendMail: 'agents',
  askQuestion: 'agents',
  answerQuestion: 'agents',
  addAccount: 'accounts',
  useAccount: 'accounts',
  removeAccount: 'accounts',
  startCrew: 'crew',
  stopCrew: 'crew',
  untrackProject: 'crew',
  addProject: 'crew',
  openChange: 'queue',
  approveChange: 'queue',
  fixChange: 'queue',
  blockChange: 'queue',
  unblockChange: 'queue',
  commentChange: 'queue',
  closeChange: 'queue',
  retryChange: 'queue',
  mergeChange: 'queue',
  checkQueue: 'queue',
  pauseQueue: 'queue',
  resumeQueue: 'queue',
  allowPush: 'push',
  // Nothing that was pushed is reverted.
  forbidPush: 'itself',
  // These wait until the process has exited, or signal it.
  stopAgent: 'itself',
  stopAll: 'itself',
  pauseAgent: 'itself',
  continueAgent: 'itself',
  interruptAgent: 'itself',
  repair: 'itself',
  stopDaemon: 'itself',
  rosterSelf: 'itself',
  changeProjectSettings: 'itself',
  changeRuntimeSettings: 'itself',
  reapAgent: 'itself',
  clearHistory: 'itself',
  markHistory: 'itself',
  rewindHistory: 'itself',
  switchDesk: 'itself',
  trust: 'itself',
  addRule: 'itself',
  revokeRule: 'itself',
  gate: 'itself',
  lockPaths: 'itself',
  unlockPaths: 'itself',
  restoreWorktree: 'itself',
  pruneWorktrees: 'itself',
  testAccount: 'itself',
  testModel: 'itself',
  newPlan: 'itself',
  editPlan: 'itself',
  // Dispatch listens to them: plan/dispatch.test.ts.
  approvePlan: 'itself',
  launchPlan: 'itself',
  pausePlan: 'itself',
  resumePlan: 'itself',
  archivePlan: 'itself',
  landPlan: 'itself',
  revertPlan: 'itself',
  approvePhase: 'itself',
  commentPhase: 'itself',
  requestChanges: 'itself',
  answerThread: 'itself',
  resolveThread: 'itself',
  editTask: 'itself',
  acceptProposal: 'itself',
  dismissProposal: 'itself',
  revertProposal: 'itself',
  addTask: 'itself',
  completeTask: 'itself',
  blockTask: 'itself',
  unblockTask: 'itself',
  mcp: 'itself',
  fetchMail: 'itself',
  waitMail: 'itself',
  readMail: 'itself',
  ackMail: 'itself',
  noteShown: 'itself',
  askPermission: 'itself',
  webCode: 'itself',
  openWebSession: 'itself',
  revokeWebSessions: 'itself',
  decideApproval: 'agents',
};
type ChangingRoute = {
  [Name in keyof typeof routes]: (typeof routes)[Name]['method'] extends 'get' ? never : Name;
}[keyof typeof routes];

test('every route that changes something declares how its effect happens', () => {
  const changing = Object.entries(routes).filter(([, { method }]) => method !== ('get' as string));
  expect(Object.keys(effects).toSorted()).toEqual(changing.map(([name]) => name).toSorted());
});

/** Waits for an event of this type, about this agent if given, so many times. */
async function happens(daemon: TestDaemon, type: EventType, agentId: string | null = null, times = 1): Promise<void> {
  const isMeant = (event: { type: string; agentId: string | null }) =>
    event.type === type && (agentId === null || event.agentId === agentId);
  await waitUntil(async () => (await allEvents(daemon.client)).filter(isMeant).length >= times, {
    what: `${type}, ${times} times`,
  });
}

/** An idle agent that completes each later turn. */
async function resting(daemon: TestDaemon, body: Parameters<TestDaemon['work']>[1] = {}): Promise<AgentView> {
  return daemon.ended((await daemon.work(['complete', 'complete', 'complete'], body)).id);
}

async function hasTurn(daemon: TestDaemon, agentId: string, no: number): Promise<void> {
  await happens(daemon, 'run.ended', agentId, no);
}

async function atWork(daemon: TestDaemon, body: Parameters<TestDaemon['work']>[1] = {}): Promise<AgentView> {
  const agent = await daemon.work(['hang'], body);
  await happens(daemon, 'session.started', agent.id);
  return agent;
}

describe('without polling, commits alone wake agents', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ timing: noFloors });
    daemon.define('chief', { kind: 'main', tools: ['*'], provider: 'scripted', policy: ['Delegate'] });
    daemon.define('finder', { kind: 'subagent', tools: ['*'], provider: 'scripted' });
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });

  test('that are given work: work, fork, delegate', async () => {
    const agent = await resting(daemon);
    const options = { scenario: await daemon.scenario(['complete']) };
    const child = await daemon.fork(agent.id, { prompt: 'look', provider: 'scripted', options });
    await hasTurn(daemon, child.id, 1);
    const lead = await atWork(daemon, { definition: 'chief' });
    const asked = { target: 'finder', task: 'find it', options };
    const { agent: finder } = await agentClient(daemon.home, lead.id).delegate(asked, randomUUID());
    await hasTurn(daemon, finder.id, 1);
  });

  test('that are idle: resumeAgent, tellAgent, replyAgent, sendErrand, sendMail', async () => {
    const { client } = daemon;
    const agent = await resting(daemon);
    await client.resumeAgent(agent.id, {}, randomUUID());
    await hasTurn(daemon, agent.id, 2);
    await client.tellAgent(agent.id, { message: 'go on' }, randomUUID());
    await hasTurn(daemon, agent.id, 3);
    const questions = [{ id: 'db', question: 'Which database?' }];
    const asker = await daemon.work([{ signal: { status: 'questions', questions } }, 'wait', 'complete']);
    await hasTurn(daemon, asker.id, 1);
    await client.replyAgent(asker.id, { answer: 'SQLite' }, randomUUID());
    await hasTurn(daemon, asker.id, 2);
    const errand = await daemon.ended((await daemon.work(['complete', 'complete'], { mode: 'errand' })).id);
    await client.sendErrand(errand.id, { message: 'and another' }, randomUUID());
    await hasTurn(daemon, errand.id, 2);
    const reader = await resting(daemon);
    await client.sendMail({ to: reader.id, body: 'are you there?' }, randomUUID());
    await hasTurn(daemon, reader.id, 2);
  });

  test('that are asked, or get an answer: askQuestion, answerQuestion', async () => {
    const [asker, asked] = [await resting(daemon), await resting(daemon)];
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'which colour?' });
    await hasTurn(daemon, asked.id, 2);
    await agentClient(daemon.home, asked.id).answer(conversationId, { answer: 'red' });
    await hasTurn(daemon, asker.id, 2);
  });

  test('that get a decision: decideApproval', async () => {
    const permit = { name: 'Bash', input: { command: 'npm test' } };
    const agent = await daemon.work([{ permit }, 'complete'], { access: 'ask' });
    await happens(daemon, 'approval.referred', agent.id);
    const [request] = (await daemon.client.listApprovals()).approvals;
    await daemon.client.decideApproval(request?.id ?? '', { allow: true });
    await happens(daemon, 'run.ended', agent.id);
  });

  test('that end: killAgent, completeAgent, cancelRun, mergeErrand, abandonErrand', async () => {
    const { client } = daemon;
    const [killed, completed, cancelled] = [await atWork(daemon), await resting(daemon), await atWork(daemon)];
    await client.killAgent(killed.id, {});
    await happens(daemon, 'worktree.trashed', killed.id);
    await client.completeAgent(completed.id, {});
    await happens(daemon, 'worktree.trashed', completed.id);
    await client.cancelRun(cancelled.id);
    await happens(daemon, 'session.ended', cancelled.id);
    const merged = await doneErrand(daemon, committing('a.txt', 'a'));
    await client.mergeErrand(merged.id, {});
    await happens(daemon, 'worktree.trashed', merged.id);
    const abandoned = await doneErrand(daemon, committing('b.txt', 'b'));
    await client.abandonErrand(abandoned.id);
    await happens(daemon, 'worktree.trashed', abandoned.id);
  });
});

test('without polling, commits alone retry runs that wait for an account: addAccount, useAccount, removeAccount', async () => {
  await using daemon = await startTestDaemon({ timing: noFloors, choices: { rotateAccounts: ['scripted'] } });
  const { client } = daemon;
  const add = (name: string) =>
    client.addAccount({ provider: 'scripted', name, kind: 'api-key', secret: `sk-${name}-5fQ9xT2mLw` });
  const limited = { limit: { until: '1h' } };
  await add('one');
  const agent = await daemon.work([limited, limited, limited, 'complete'], { account: 'one' });
  await happens(daemon, 'run.waiting', agent.id);
  await add('two');
  await happens(daemon, 'run.waiting', agent.id, 2);
  expect(await viewOf(client, agent.id)).toMatchObject({ account: 'two' });
  await client.useAccount('one', { clear: true });
  await happens(daemon, 'run.waiting', agent.id, 3);
  for (const name of ['one', 'two']) await client.removeAccount(name);
  await hasTurn(daemon, agent.id, 1);
});

test('without polling, commits alone wake a crew: startCrew, stopCrew, untrackProject, addProject', async () => {
  await using daemon = await startTestDaemon({ timing: noFloors });
  const { client, repository: path } = daemon;
  await client.startCrew({ path, provider: 'scripted' });
  await happens(daemon, 'worktree.created', null, 3);
  await client.stopCrew({ path });
  await happens(daemon, 'worktree.trashed', null, 3);
  await client.startCrew({ path, provider: 'scripted' });
  await happens(daemon, 'worktree.created', null, 6);
  await client.untrackProject({ path });
  await happens(daemon, 'worktree.trashed', null, 6);
  await client.addProject({ path });
  await happens(daemon, 'worktree.created', null, 9);
});

describe('without polling, commits alone wake the queue', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ timing: noFloors });
    await commitFiles(daemon.repository, { 'check.sh': checkScript(), '.pawl/config.yaml': configWith('sh check.sh') });
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });

  async function running(count: number): Promise<void> {
    await waitUntil(async () => (await queueNow(daemon.client)).running.length === count, {
      what: `${count} running checks`,
    });
  }

  test('openChange, pauseQueue, resumeQueue, mergeChange, checkQueue', async () => {
    const { client, repository } = daemon;
    const first = await propose(client, repository, 'work/first', { 'first.txt': 'first\n' });
    await reaches(client, first.id, 'merged');
    await client.pauseQueue({ path: repository });
    const second = await propose(client, repository, 'work/second', { 'second.txt': 'second\n' });
    await client.resumeQueue({ path: repository });
    await reaches(client, second.id, 'merged');
    await commitOn(repository, 'work/third', { 'third.txt': 'third\n' });
    const { change: draft } = await client.openChange({ path: repository, branch: 'work/third', draft: true });
    await client.mergeChange(draft.id);
    await reaches(client, draft.id, 'merged');
    const { events } = await client.events({ limit: 1000 });
    await client.checkQueue({ path: repository });
    await happens(daemon, 'check.ended', null, events.filter(({ type }) => type === 'check.ended').length + 1);
  });

  test('blockChange, unblockChange, commentChange, closeChange', async () => {
    const { client, repository } = daemon;
    const { id } = await propose(client, repository, 'work/hang', { 'hang.txt': 'hang\n' });
    await running(1);
    await client.blockChange(id, { reason: 'not now' });
    await running(0);
    await client.unblockChange(id);
    await running(1);
    const { comment } = await client.commentChange(id, { body: '[BLOCKING] no' });
    await running(0);
    await client.commentChange(id, { body: 'it is fine', addresses: comment.id });
    await running(1);
    await client.closeChange(id, { reason: 'nobody wants it' });
    await running(0);
  });

  test('retryChange, fixChange', async () => {
    const { client, repository } = daemon;
    const bad = await propose(client, repository, 'work/bad', { 'bad.txt': 'bad\n' });
    await reaches(client, bad.id, 'ejected');
    await client.retryChange(bad.id);
    await happens(daemon, 'change.ejected', null, 2);
    await client.closeChange(bad.id, { reason: 'it is bad' });
    const base = await git(repository, ['rev-parse', 'main']);
    const ours = await propose(client, repository, 'work/ours', { 'same.txt': 'ours\n' }, base);
    await reaches(client, ours.id, 'merged');
    const theirs = await propose(client, repository, 'work/theirs', { 'same.txt': 'theirs\n' }, base);
    await reaches(client, theirs.id, 'ejected');
    const { path } = await client.fixChange(theirs.id);
    writeFileSync(join(path ?? '', 'same.txt'), 'both\n');
    await git(path ?? '', ['add', 'same.txt']);
    await client.fixChange(theirs.id, { proceed: true });
    await reaches(client, theirs.id, 'merged');
  });

  test('approveChange', async () => {
    const { client, repository } = daemon;
    const { id } = await propose(client, repository, 'work/config', { '.pawl/config.yaml': configWith('ls') });
    await reaches(client, id, 'needs-human-input');
    await client.approveChange(id);
    await reaches(client, id, 'merged');
  });
});

test('without polling, permission to push alone wakes the queue: allowPush', async () => {
  await using daemon = await startTestDaemon({ timing: noFloors });
  const { client, repository } = daemon;
  const origin = join(repository, '..', 'origin.git');
  await commitFiles(repository, { '.pawl/config.yaml': configWith('ls') });
  await git(repository, ['clone', '--quiet', '--bare', repository, origin]);
  await git(repository, ['remote', 'add', 'origin', origin]);
  await git(repository, ['fetch', '--quiet', 'origin']);
  const { id } = await propose(client, repository, 'work/one', { 'one.txt': 'one\n' });
  await reaches(client, id, 'ready');
  await client.allowPush({ path: repository });
  await reaches(client, id, 'merged');
});

test('no room wakes another: commits do', () => {
  const sources = join(import.meta.dirname, '..', 'src');
  const room = (file: string) => relative(sources, file).split('/')[0];
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const calls = files.flatMap((file) =>
    [
      ...readFileSync(join(sources, file), 'utf8').matchAll(
        /\b(reconciler|mailRoom|mergeQueues|queue|delivery|sessions)\.wake\b/g,
      ),
    ].map(([call]) => `${room(join(sources, file))}: ${call}`),
  );
  expect(calls).toEqual(['mail: delivery.wake']);
});
