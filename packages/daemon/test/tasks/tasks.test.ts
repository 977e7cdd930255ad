import type { TaskView } from '@pawl/protocol/plan/view';
import { updateAgent } from '@pawl/store/agents/agents';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requeueDead } from '../../src/tasks/tasks.ts';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
let another: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  another = join(daemon.repository, '..', 'another');
  await sampleRepository(another);
  await daemon.client.addProject({ path: another });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A task with a unique name, so that tests do not interfere in the plan. */
async function added(fields: { name?: string; phase?: string; after?: string[]; description?: string } = {}) {
  const name = fields.name ?? `task ${randomUUID()}`;
  return (await daemon.client.addTask({ path: daemon.repository, ...fields, name })).task;
}

async function shown(id: string): Promise<TaskView> {
  return (await daemon.client.showTask(id)).task;
}

/** Starts an agent on a planned task. */
function take(task: { id: string }, steps: unknown[] = ['complete']) {
  return daemon.work(steps, { task: '', planned: task.id });
}

async function eventsAbout(taskId: string): Promise<string[]> {
  const { events } = await daemon.client.events({ limit: 1000 });
  return events.filter((event) => event.data['taskId'] === taskId).map(({ type }) => type);
}

describe('a plan', () => {
  test('a task is added once, however its name is written, until it is completed [S3-08, 5.2.15]', async () => {
    const name = `Write the parser ${randomUUID()}`;
    const { task, created } = await daemon.client.addTask({ path: daemon.repository, name, phase: 'one' });
    expect(created).toBe(true);
    expect(task).toMatchObject({ name, phase: 'one', state: 'pending', createdBy: null, agent: null });
    const again = { path: daemon.repository, name: `  ${name.toUpperCase().replaceAll(' ', '   ')} `, phase: 'one' };
    expect(await daemon.client.addTask(again)).toEqual({ task, created: false });
    expect((await daemon.client.addTask({ ...again, phase: 'two' })).created).toBe(true);
    await daemon.client.changeTask(task.id, 'done', { summary: 'it is there' });
    expect((await daemon.client.addTask(again)).created).toBe(true);
    expect(await eventsAbout(task.id)).toEqual(['task.added', 'task.completed']);
  });

  test('eight concurrent additions of the same task add one', async () => {
    const name = `race ${randomUUID()}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => daemon.client.addTask({ path: daemon.repository, name })),
    );
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.map(({ task }) => task.id)).size).toBe(1);
  });

  test('a task waits for its dependencies, by id or name, and is free when they are completed [W3-06]', async () => {
    const first = await added();
    const second = await added({ after: [first.name, first.id] });
    expect(second).toMatchObject({ state: 'blocked', detail: `waits for ${first.name}`, dependsOn: [first.id] });
    const { dependents } = await daemon.client.showTask(first.id);
    expect(dependents).toEqual([{ id: second.id, name: second.name, state: 'blocked' }]);
    await daemon.client.changeTask(first.name, 'done', {});
    expect(await shown(second.id)).toMatchObject({ state: 'pending', detail: '' });
    await expect(added({ after: ['no such task'] })).rejects.toMatchObject({ code: 'not_found' });
    const foreign = (await daemon.client.addTask({ path: another, name: randomUUID() })).task;
    await expect(added({ after: [foreign.id] })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('tasks are listed by state, phase and project, and found by id or id prefix', async () => {
    const phase = `phase ${randomUUID()}`;
    const [pending, blocked, done] = [await added({ phase }), await added({ phase }), await added({ phase })];
    await daemon.client.changeTask(blocked.id.slice(0, 8), 'block', { reason: 'too early' });
    await daemon.client.changeTask(done.id, 'done', {});
    const names = async (query: Parameters<typeof daemon.client.listTasks>[0]) =>
      (await daemon.client.listTasks(query)).tasks.map(({ name }) => name);
    expect(await names({ phase })).toEqual([pending.name, blocked.name]);
    expect(await names({ phase, all: true })).toEqual([pending.name, blocked.name, done.name]);
    expect(await names({ phase, state: 'blocked' })).toEqual([blocked.name]);
    expect(await names({ phase, state: 'completed' })).toEqual([done.name]);
    expect(await names({ phase, path: another })).toEqual([]);
    expect(await shown(blocked.id)).toMatchObject({ state: 'blocked', detail: 'too early' });
    await daemon.client.changeTask(blocked.id, 'unblock', {});
    expect((await shown(blocked.id)).state).toBe('pending');
    await expect(daemon.client.changeTask(done.id, 'block', { reason: 'x' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(daemon.client.showTask('no such task')).rejects.toMatchObject({ code: 'not_found' });
    await expect(daemon.client.addTask({ path: daemon.repository, name: 'next' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

describe('an agent and the plan', () => {
  test('a task that an agent adds is a sibling of that agent’s task [S3-01, S3-02]', async () => {
    const task = await added({ phase: `phase ${randomUUID()}` });
    const agent = await take(task, [{ say: 'standing by' }, 'hang']);
    const own = agentClient(daemon.home, agent.id);
    const { task: sibling } = await own.addTask({ name: randomUUID(), agent: agent.id });
    expect(sibling).toMatchObject({ phase: task.phase, projectId: task.projectId, createdBy: agent.id });
    const byAlias = await daemon.client.addTask({ name: randomUUID(), agent: agent.alias });
    expect(byAlias.task).toMatchObject({ phase: task.phase, createdBy: null });
    const { task: own2 } = await own.addTask({ name: randomUUID() });
    expect(own2).toMatchObject({ phase: '', projectId: task.projectId });
    await daemon.client.stopAgent(agent.id);
  });

  test('for an agent without a task, the sibling is in its project and in no phase', async () => {
    const agent = await daemon.rested();
    const { task } = await daemon.client.addTask({ name: randomUUID(), agent: agent.id });
    expect(task).toMatchObject({ phase: '', project: { name: 'sample' } });
  });

  test('it sees and changes only its own project’s plan, and completes only its own tasks', async () => {
    const agent = await daemon.rested();
    const own = agentClient(daemon.home, agent.id);
    const foreign = (await daemon.client.addTask({ path: another, name: randomUUID() })).task;
    const forbidden = { code: 'forbidden' };
    await expect(own.addTask({ path: another, name: 'x' })).rejects.toMatchObject(forbidden);
    await expect(own.listTasks({ path: another })).rejects.toMatchObject(forbidden);
    await expect(own.showTask(foreign.id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await own.listTasks({ all: true })).tasks.every(({ projectId }) => projectId !== foreign.projectId)).toBe(
      true,
    );
    const task = await added();
    await expect(own.changeTask(task.id, 'done', {})).rejects.toMatchObject(forbidden);
    await expect(own.changeTask(task.id, 'block', { reason: 'x' })).rejects.toMatchObject(forbidden);
    await expect(own.changeTask(task.id, 'unblock', {})).rejects.toMatchObject(forbidden);
    const stranger = (await daemon.work(['complete'], { path: another })).id;
    await daemon.ended(stranger);
    await expect(own.addTask({ name: 'x', agent: stranger })).rejects.toMatchObject(forbidden);
  });

  test('from within its session, `pawl task` acts as that agent [S3-02, W3-03]', async () => {
    const task = await added({ phase: `phase ${randomUUID()}` });
    const name = `found on the way ${randomUUID()}`;
    const agent = await take(task, [{ pawl: ['task', 'add', name, '--agent-id', '{id}'] }, 'complete']);
    await daemon.ended(agent.id);
    const found = (await daemon.client.listTasks({ phase: task.phase })).tasks.find((each) => each.name === name);
    expect(found).toMatchObject({ createdBy: agent.id, phase: task.phase });
  });
});

describe('work on a task', () => {
  test('its result message becomes the summary, and its dependents are told [W3-06]', async () => {
    const first = await added({ description: 'with care' });
    const second = await added({ after: [first.id] });
    await expect(take(second)).rejects.toMatchObject({ code: 'conflict' });
    const agent = await take(first, [
      { say: 'standing by' },
      { complete: { summary: 'a grammar in docs/grammar.md' } },
    ]);
    await daemon.ended(agent.id);
    expect(await daemon.client.showTask(first.id)).toMatchObject({
      task: { state: 'completed', summary: 'a grammar in docs/grammar.md', agent: null },
      agents: [{ id: agent.id, alias: agent.alias }],
    });
    expect(await eventsAbout(first.id)).toEqual(['task.added', 'task.taken', 'task.completed']);
    const next = await take(second);
    const { run } = await viewOf(daemon.client, next.id);
    expect(run?.task).toBe(`${second.name}\n\nWhat came of "${first.name}":\na grammar in docs/grammar.md`);
    expect((await viewOf(daemon.client, agent.id)).run?.task).toBe(`${first.name}\n\nwith care`);
    await daemon.ended(next.id);
  });

  test('eight claim one task at once: one wins', async () => {
    const task = await added();
    const claims = await Promise.allSettled(Array.from({ length: 8 }, () => take(task, ['hang'])));
    const winners = claims.filter((claim) => claim.status === 'fulfilled').map(({ value }) => value);
    expect(winners).toHaveLength(1);
    for (const claim of claims)
      if (claim.status === 'rejected') expect(claim.reason).toMatchObject({ code: 'conflict' });
    expect(await shown(task.id)).toMatchObject({ state: 'in_progress', agent: { id: winners[0]?.id } });
    expect((await daemon.client.showTask(task.id)).agents).toHaveLength(1);
    await daemon.client.stopAgent(winners[0]?.id ?? '');
  });

  test('a question keeps it; a stop and a kill requeue it; resuming claims it again', async () => {
    const task = await added();
    const agent = await take(task, [
      { signal: { status: 'questions', questions: ['which one?'] } },
      'wait',
      { say: 'standing by' },
      'hang',
    ]);
    await daemon.ended(agent.id);
    expect(await shown(task.id)).toMatchObject({ state: 'in_progress', agent: { id: agent.id } });
    await daemon.client.resumeAgent(agent.id, { prompt: 'the first' }, randomUUID());
    await outputHas(daemon.client, agent.id, 'standing by');
    await daemon.client.stopAgent(agent.id);
    expect(await shown(task.id)).toMatchObject({ state: 'pending', agent: null, crashes: 0 });
    await daemon.client.resumeAgent(agent.id, {}, randomUUID());
    expect(await shown(task.id)).toMatchObject({ state: 'in_progress', agent: { id: agent.id } });
    await daemon.client.stopAgent(agent.id);
    const other = await take(task, [{ say: 'standing by' }, 'hang']);
    await outputHas(daemon.client, other.id, 'standing by');
    await daemon.client.killAgent(other.id, {});
    expect(await shown(task.id)).toMatchObject({ state: 'pending', agent: null, crashes: 0 });
    expect(await eventsAbout(task.id)).toEqual([
      'task.added',
      ...Array.from({ length: 3 }, () => ['task.taken', 'task.requeued']).flat(),
    ]);
  });

  test('it is requeued after a crash, and blocked after the third [W3-10]', async () => {
    const task = await added();
    for (let crash = 1; crash <= 3; crash += 1) {
      const agent = await take(task, [{ signal: { status: 'error', error: `no. ${crash}` } }]);
      expect((await daemon.ended(agent.id)).run?.status).toBe('failed');
      expect(await shown(task.id)).toMatchObject({ state: crash < 3 ? 'pending' : 'blocked', crashes: crash });
    }
    expect((await shown(task.id)).detail).toContain('crashed 3 times');
    await expect(take(task)).rejects.toMatchObject({ code: 'conflict' });
    await daemon.client.changeTask(task.id, 'unblock', {});
    expect(await shown(task.id)).toMatchObject({ state: 'pending', crashes: 0 });
    expect((await daemon.client.showTask(task.id)).agents).toHaveLength(3);
  });

  test('one that is completed by hand stays so, however its agent ends', async () => {
    const task = await added();
    const agent = await take(task, [{ say: 'standing by' }, 'hang']);
    await outputHas(daemon.client, agent.id, 'standing by');
    await agentClient(daemon.home, agent.id).changeTask(task.id, 'done', { summary: 'done early' });
    await daemon.client.stopAgent(agent.id);
    expect(await shown(task.id)).toMatchObject({ state: 'completed', summary: 'done early', agent: null });
    expect(await eventsAbout(task.id)).toEqual(['task.added', 'task.taken', 'task.completed']);
  });
});

test('at daemon start, tasks of dead and idle agents are requeued [W3-10]', async () => {
  await using own = await startTestDaemon();
  const add = async () => (await own.client.addTask({ path: own.repository, name: randomUUID() })).task;
  const [first, second, next] = [await add(), await add(), await add()];
  const work = (steps: unknown[], planned: string) => own.work(steps, { task: '', planned });
  const dead = await work([{ say: 'standing by' }, 'hang'], '@next');
  const busy = await work([{ say: 'standing by' }, 'hang'], '@next');
  const asking = await work([{ signal: { status: 'questions', questions: ['which?'] } }], '@next');
  await own.ended(asking.id);
  await expect(work(['complete'], '@next')).rejects.toMatchObject({ code: 'not_found' });
  const store = storeOf(own.home.root);
  expect(await requeueDead(store)).toBe(0);
  // As after a crash: the agent is recorded as dead, and its task is not settled.
  await store.write((tx) => updateAgent(tx, dead.id, { endedAt: tx.now, endReason: 'test' }));
  expect(await requeueDead(store)).toBe(1);
  expect(await requeueDead(store)).toBe(0);
  const states = async () =>
    Promise.all([first, second, next].map(async ({ id }) => (await own.client.showTask(id)).task.state));
  await waitUntil(async () => (await states()).join() === 'pending,in_progress,in_progress', { what: 'the tasks' });
  await own.client.stopAgent(busy.id);
  await own.client.killAgent(dead.id, {});
});
