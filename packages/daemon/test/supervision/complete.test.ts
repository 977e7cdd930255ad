import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { strayProcesses } from '@pawl/host/session/stray';
import { newId } from '@pawl/schema/id';
import { agentById, insertAgent } from '@pawl/store/agents/agents';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import type { AgentView } from '@pawl/protocol/agents/view';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { cleanedUp, completionMails } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputHas, outputText } from '../support/output.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
let root: string;
/** A persistent agent with a role, another with another role, and a child of the first without a run. */
let overseer: string;
let gatekeeper: string;
let silentOverseer: string;
/** An idle agent, from which other idle ones are forked. */
let builder: string;

beforeAll(async () => {
  // No agent is ended for staying too long here, except in the test about that.
  daemon = await startTestDaemon({
    timing: { hungAfterSignalMs: 60_000 },
    providers: { forgetful: { extends: 'scripted', resume: null, fork: null, fork_style: 'replay' } },
  });
  // No agent is woken by mail here: the tests check the recipients.
  const both = { kind: 'main', mail: 'pull', tools: ['*'], policy: ['Delegate'], description: 'for this test' };
  const lasting = { ...both, class: 'persistent' };
  daemon.define('overseer', { name: 'overseer', role: 'oversight', ...lasting });
  daemon.define('gatekeeper', { name: 'gatekeeper', role: 'gate', ...lasting });
  const brief = { ...both, class: 'ephemeral' };
  daemon.define('builder', { name: 'builder', role: 'build', notify: ['parent', 'oversight', 'gate'], ...brief });
  daemon.define('reader', { name: 'reader', role: 'read', notify: ['gate'], ...brief });
  root = (await viewOf(daemon.client, 'root')).id;
  [overseer, gatekeeper, builder] = await Promise.all([resting('overseer'), resting('gatekeeper'), resting('builder')]);
  silentOverseer = (await childOf(overseer)).id;
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** An idle agent of a definition that has done something. */
async function resting(definition: string): Promise<string> {
  const { id } = await daemon.work(['complete'], { definition });
  await daemon.ended(id);
  return id;
}

/** An idle child that has never had a run. */
async function childOf(parentId: string): Promise<AgentView> {
  const { agent } = await daemon.client.fork(parentId, { switch: false }, randomUUID());
  await waitUntil(async () => (await typesOf(agent.id)).includes('worktree.created'), { what: 'its worktree' });
  return agent;
}

/** An agent whose process stays. */
async function staying(): Promise<AgentView> {
  const agent = await daemon.work([{ say: 'standing by' }, 'hang'], { definition: 'builder' });
  await outputHas(daemon.client, agent.id, 'standing by');
  return agent;
}

const says = (...words: string[]) => ({ pawl: ['complete', ...words] });
const recipients = async (agentId: string) =>
  (await completionMails(daemon.home.root, agentId)).map(({ toId }) => toId);
const typesOf = async (agentId: string) =>
  (await daemon.client.events({ agent: agentId, limit: 1000 })).events.map(({ type }) => type);
const view = async (agentId: string) => viewOf(daemon.client, agentId);

describe('an agent that completes [S4-09, S4-10, S4-23, W4-08]', () => {
  test('tells its parent and all agents with the roles that its definition names, ends, and is cleaned up', async () => {
    const { task } = await daemon.client.addTask({ path: daemon.repository, name: 'teach the parser comments' });
    const agent = await daemon.work(
      [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'add a' }, says('--summary', 'it takes comments now')],
      { definition: 'builder', task: '', planned: task.id },
    );
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'completed',
      run: { status: 'completed', detail: 'it takes comments now' },
      worktreeEnd: { state: 'trashed' },
    });
    expect((await recipients(agent.id)).toSorted()).toEqual([root, overseer, silentOverseer, gatekeeper].toSorted());
    const [mail] = await completionMails(daemon.home.root, agent.id);
    for (const word of [agent.alias, 'teach the parser comments', '1 commit', 'it takes comments now'])
      expect(mail?.body).toContain(word);
    // 7.11: commits that exist nowhere else keep the branch.
    expect(existsSync(agent.worktree ?? '')).toBe(false);
    expect(await git(daemon.repository, ['show', `work/${agent.alias}:a.txt`])).toBe('a');
    // The order of 7.11: the end of the process, the task's history, the death, the worktree.
    const told = await typesOf(agent.id);
    const order = [
      'agent.completed',
      'session.ended',
      'task.completed',
      'run.ended',
      'agent.ended',
      'worktree.trashed',
    ];
    expect(told.filter((type) => order.includes(type))).toEqual(order);
    expect((await daemon.client.showTask(task.id)).task).toMatchObject({
      state: 'completed',
      summary: 'it takes comments now',
    });
  });

  test('tells only the named roles if its definition names no parent; its final message is the result', async () => {
    const agent = await daemon.work([{ say: 'my last words' }, says()], { definition: 'reader' });
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'completed',
      run: { status: 'completed', detail: 'my last words' },
    });
    expect(await recipients(agent.id)).toEqual([gatekeeper]);
  });

  test('tells its delegator, which counts for more than an exit code [6.3 #235, 7.12]', async () => {
    const options = { scenario: await daemon.scenario([says('--summary', 'as you asked'), { crash: { code: 3 } }]) };
    const request = { path: daemon.repository, task: 'help', provider: 'scripted', options, definition: 'builder' };
    const { agent } = await agentClient(daemon.home, overseer).work(request, randomUUID());
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      run: { status: 'completed', detail: 'as you asked' },
    });
    expect((await recipients(agent.id)).toSorted()).toEqual([overseer, silentOverseer, gatekeeper].toSorted());
  });

  test('reports a failure too, and its task is requeued', async () => {
    const { task } = await daemon.client.addTask({ path: daemon.repository, name: 'reach the moon' });
    const agent = await daemon.work([says('--failure', 'there is no rocket')], { task: '', planned: task.id });
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'failed: there is no rocket',
      run: { status: 'failed', detail: 'there is no rocket' },
    });
    const [mail] = await completionMails(daemon.home.root, agent.id);
    expect(mail).toMatchObject({ toId: root });
    expect(mail?.body).toContain('could not do its task: reach the moon\nWhy: there is no rocket');
    expect((await daemon.client.showTask(task.id)).task).toMatchObject({ state: 'pending', crashes: 1 });
  });
});

describe('a signal takes precedence [7.12]', () => {
  test('with an error over a report of success', async () => {
    const agent = await daemon.work([says('--summary', 'fine'), { signal: { status: 'error', error: 'not so' } }]);
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'failed: not so',
      run: { status: 'failed', detail: 'not so' },
    });
  });

  test('an agent that asks a question after all is not done: it waits for the answer, and completes later', async () => {
    const agent = await daemon.work([
      says('--summary', 'fine'),
      { signal: { status: 'questions', questions: ['Which colour?'] } },
      'wait',
      says('--summary', 'it is blue'),
    ]);
    expect(await daemon.ended(agent.id)).toMatchObject({ status: 'running', activity: 'waiting_for_input' });
    // Those who were told that it is done are told that it is not.
    const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
    const told = events.find(({ type }) => type === 'agent.completed')?.data['notified'];
    expect(events.find(({ type }) => type === 'agent.completion_withdrawn')?.data).toEqual({ notified: told });
    const mails = await completionMails(daemon.home.root, agent.id);
    expect(mails.map(({ toId, body }) => [toId, body.includes('not completed after all')])).toEqual([
      [root, false],
      [root, true],
    ]);
    await daemon.client.replyAgent(agent.id, { answer: 'blue' }, randomUUID());
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'completed',
      run: { detail: 'it is blue' },
    });
  });
});

test('uncommitted work is requested once, and then kept in place [7.11, 8.13]', async () => {
  const dirty = { shell: 'echo changed >> README.md' };
  const agent = await daemon.work([dirty, says('--summary', 'done'), 'wait', { say: 'no' }, 'wait']);
  expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
    detail: 'completed',
    run: { status: 'completed', detail: 'done' },
    worktreeEnd: { state: 'retained' },
  });
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  expect(sessions.map(({ purpose }) => purpose)).toEqual(['work', 'commit']);
  expect(readFileSync(join(agent.worktree ?? '', 'README.md'), 'utf8')).toContain('changed');
  expect((await typesOf(agent.id)).filter((type) => type === 'agent.completed')).toHaveLength(1);
  // An agent that remembers nothing cannot be asked.
  const forgetful = await daemon.work([dirty, says()], { provider: 'forgetful' });
  expect(await cleanedUp(daemon.client, forgetful.id)).toMatchObject({ worktreeEnd: { state: 'retained' } });
  expect((await daemon.client.inspectAgent(forgetful.id)).sessions).toHaveLength(1);
});

describe('between the report and the end', () => {
  const refused = { code: 'conflict', message: expect.stringContaining('has completed') };

  test('it is ready for cleanup, is not resumed or told, and a stop ends it as done [7.4, S4-25, W4-09]', async () => {
    const agent = await staying();
    const child = await childOf(agent.id);
    const self = agentClient(daemon.home, agent.id);
    const resume = () => daemon.client.resumeAgent(agent.id, { prompt: 'more' }, randomUUID());
    // W4-09: nor is a running one.
    await expect(resume()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('already working'),
    });
    await self.completeAgent('@current', { summary: 'done' });
    expect(await view(agent.id)).toMatchObject({
      status: 'running',
      activity: 'ready_for_cleanup',
      detail: 'done',
      run: { status: 'running' },
    });
    const state = () => readFileSync(daemon.home.state, 'utf8');
    await waitUntil(() => state().includes('"ready_for_cleanup": true'), { what: 'state.json to say so' });
    await expect(resume()).rejects.toMatchObject(refused);
    await expect(daemon.client.tellAgent(agent.id, { message: 'more' }, randomUUID())).rejects.toMatchObject(refused);
    // Its child's report goes to the next listener up the line.
    await daemon.client.completeAgent(child.id, {});
    expect(await recipients(child.id)).not.toContain(agent.id);
    expect(await recipients(child.id)).toContain(root);
    await daemon.client.stopAgent(agent.id);
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'completed',
      run: { status: 'completed', detail: 'done' },
    });
    await expect(resume()).rejects.toMatchObject(refused);
    await waitUntil(() => !state().includes(agent.alias), { what: 'it to be gone from state.json' });
    await expect(self.daemon()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a cancel of its run does not keep it alive', async () => {
    const agent = await staying();
    await daemon.client.completeAgent(agent.id, { summary: 'done' });
    await daemon.client.cancelRun(agent.id);
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({
      detail: 'completed',
      run: { status: 'cancelled' },
    });
  });
});

test('a process that does not exit is ended, but not one that was asked to commit [7.3, 8.10]', async () => {
  await using quick = await startTestDaemon({ timing: { hungAfterSignalMs: 300, stopGraceMs: 500 } });
  // An agent that is to commit had reported before it started: it gets the time that it needs.
  const gate = join(quick.home.root, 'gate');
  const slow = await quick.work([
    { shell: 'echo changed >> README.md' },
    says('--summary', 'done'),
    'wait',
    { say: 'committing' },
    { shell: `while [ ! -e '${gate}' ]; do sleep 0.1; done; git -c user.name=a -c user.email=a@b commit -qam late` },
  ]);
  await outputHas(quick.client, slow.id, 'committing');
  const agent = await quick.work([says('--summary', 'done'), 'hang']);
  expect(await cleanedUp(quick.client, agent.id)).toMatchObject({
    detail: 'completed',
    run: { status: 'completed', detail: 'done' },
    worktreeEnd: { state: 'trashed' },
  });
  const { sessions } = await quick.client.inspectAgent(agent.id);
  expect(sessions.flatMap((session) => strayProcesses(session.id))).toEqual([]);
  writeFileSync(gate, '');
  expect(await cleanedUp(quick.client, slow.id)).toMatchObject({ worktreeEnd: { state: 'trashed' } });
  expect(await git(quick.repository, ['log', '-1', '--format=%s', `work/${slow.alias}`])).toBe('late');
});

describe('an idle agent that a person completes', () => {
  test('ends at once; its subagents end with it, its other children live on', async () => {
    const agent = await childOf(builder);
    const child = await childOf(agent.id);
    const subagent = await subagentOf(agent.id);
    const { agent: ended, notified } = await daemon.client.completeAgent(agent.id.slice(0, 12), { summary: 'fine' });
    expect(ended).toMatchObject({ status: 'dead', detail: 'completed' });
    expect(notified.map(({ id }) => id).toSorted()).toEqual([builder, overseer, silentOverseer, gatekeeper].toSorted());
    expect(await view(subagent)).toMatchObject({ status: 'dead', detail: `killed with ${agent.alias}` });
    expect(await view(child.id)).toMatchObject({ status: 'running', parentId: agent.id, supervisorId: builder });
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({ worktreeEnd: { state: 'trashed' } });
    const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
    expect(events.find(({ type }) => type === 'agent.ended')?.data).toEqual({
      reason: 'completed',
      agents: [subagent, agent.id],
      resupervised: [child.id],
    });
    // 7.3: the child's report goes to its current supervisor.
    await daemon.client.completeAgent(child.id, {});
    expect(await recipients(child.id)).toContain(builder);
  });

  test('with an untracked file keeps its worktree, and is dead anyway [8.13]', async () => {
    const agent = await childOf(builder);
    writeFileSync(join(agent.worktree ?? '', 'new.txt'), 'new');
    await daemon.client.completeAgent(agent.alias, {});
    expect(await cleanedUp(daemon.client, agent.id)).toMatchObject({ worktreeEnd: { state: 'retained' } });
    expect(readFileSync(join(agent.worktree ?? '', 'new.txt'), 'utf8')).toBe('new');
  });

  test('completes its task, which it had kept because of a question; its token is masked everywhere', async () => {
    const { task } = await daemon.client.addTask({ path: daemon.repository, name: 'choose a colour' });
    const steps = [{ signal: { status: 'questions', questions: ['Which?'] } }, 'wait'];
    const agent = await daemon.work(steps, { task: '', planned: task.id });
    await daemon.ended(agent.id);
    const token = createAuthority(readFileSync(daemon.home.token, 'utf8').trim()).agentToken(agent.id);
    await daemon.client.completeAgent(agent.id, { summary: `blue ${token}.` });
    expect((await daemon.client.showTask(task.id)).task).toMatchObject({
      state: 'completed',
      summary: expect.stringMatching(/^blue \*+\.$/),
    });
    expect((await completionMails(daemon.home.root, agent.id))[0]?.body).toMatch(/blue \*+\.$/);
    expect(JSON.stringify(await daemon.client.events({ agent: agent.id, limit: 1000 }))).not.toContain(token);
  });

  test('ends its run, too, if that only waits for the end of a limit', async () => {
    const agent = await daemon.work([{ limit: { until: '1h' } }, 'complete']);
    await waitUntil(async () => (await view(agent.id)).activity === 'exhausted', { what: 'it to wait' });
    const { agent: ended } = await daemon.client.completeAgent(agent.id, { summary: 'good enough' });
    expect(ended).toMatchObject({ status: 'dead', run: { status: 'completed', detail: 'good enough' } });
    await cleanedUp(daemon.client, agent.id);
  });

  test('repeating it changes nothing, however many do so at once; another report is refused', async () => {
    const agent = await childOf(builder);
    const asked = Array.from({ length: 8 }, () => daemon.client.completeAgent(agent.id, { summary: 'done' }));
    const answers = await Promise.all(asked);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(answers.flatMap(({ notified }) => notified)).toHaveLength(4);
    for (const other of [{ summary: 'or not' }, { failure: 'or not' }])
      await expect(daemon.client.completeAgent(agent.id, other)).rejects.toMatchObject({ code: 'conflict' });
    expect(await daemon.client.completeAgent(agent.id, {})).toMatchObject({ isNew: false, notified: [] });
    expect(await recipients(agent.id)).toHaveLength(4);
    expect((await typesOf(agent.id)).filter((type) => type === 'agent.completed')).toHaveLength(1);
  });

  test('one of several concurrent reports counts, and each recipient gets one', async () => {
    const agent = await childOf(builder);
    const words = [{ summary: 'one' }, { summary: 'two' }, { failure: 'three' }];
    const outcomes = await Promise.allSettled(words.map((word) => daemon.client.completeAgent(agent.id, word)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await recipients(agent.id)).toHaveLength(4);
  });
});

describe('refused', () => {
  test.each([
    ['7.12: who is there for good', () => overseer, 'conflict', /persistent/],
    ['agent 0', () => root, 'forbidden', /Agent 0/],
  ])('%s', async (_who, id, code, message) => {
    await expect(daemon.client.completeAgent(id(), {})).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test('the killed, an errand, another agent’s report, and an unknown agent', async () => {
    const dead = await childOf(builder);
    await daemon.client.killAgent(dead.id, {});
    await expect(daemon.client.completeAgent(dead.id, {})).rejects.toMatchObject({ code: 'conflict' });
    const errand = await daemon.work([says('--summary', 'done'), 'complete'], { mode: 'errand' });
    expect(await daemon.ended(errand.id)).toMatchObject({ status: 'running', activity: 'idle' });
    expect(await outputText(daemon.client, errand.id)).toContain('a person decides when it is over');
    const self = agentClient(daemon.home, errand.id);
    await expect(self.completeAgent(overseer, {})).rejects.toMatchObject({ code: 'forbidden' });
    await expect(self.completeAgent(root, {})).rejects.toMatchObject({ code: 'forbidden' });
    await expect(daemon.client.completeAgent('nobody', {})).rejects.toMatchObject({ code: 'agent_not_found' });
    await expect(daemon.client.completeAgent('@current', {})).rejects.toMatchObject({ code: 'agent_not_found' });
  });
});

/** A subagent of an agent, as a delegation would make one. */
async function subagentOf(agentId: string): Promise<string> {
  const store = storeOf(daemon.home.root);
  const row = await agentById(store.db, agentId);
  if (row === null) throw new Error('no row');
  const id = newId();
  const family = { kind: 'subagent', parentId: agentId, supervisorId: agentId } as const;
  await store.write((tx) => insertAgent(tx, { ...row, ...family, id, alias: 'small-helper', worktree: null }));
  return id;
}
