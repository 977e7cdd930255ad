import { newId } from '@pawl/schema/id';
import type { Phase } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { putPhase } from '@pawl/store/plan/plan-records';
import { insertTask } from '@pawl/store/projects/tasks';
import { aPhase, aTask } from '@pawl/testing/plan-records';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDispatch } from '../../src/plan/dispatch.ts';
import { claimTask } from '../../src/tasks/tasks.ts';
import type { SessionPlatform } from '../../src/accounts/session-platform.ts';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A plan with these tasks, none of which has started. */
async function planWith(tasks: Partial<Task>[], phases: Partial<Phase>[] = [], mode: 'auto' | 'review' = 'auto') {
  const { plan } = await daemon.client.newPlan({
    path: daemon.repository,
    text: 'x',
    name: `plan ${randomUUID()}`,
    mode,
  });
  await storeOf(daemon.home.root).write(async (tx) => {
    for (const phase of phases) await putPhase(tx, aPhase('phase', { id: newId(), ...phase, initiativeId: plan.id }));
    for (const [index, task] of tasks.entries()) {
      const own = { id: newId(), projectId: plan.projectId, initiativeId: plan.id, createdAt: index };
      await insertTask(tx, aTask(`task ${index}`, { ...own, ...task }));
    }
  });
  return plan;
}

const approve = (plan: { id: string }) => daemon.client.changePlan(plan.id, 'approve', { acceptWarnings: true });
const launch = async (plan: { id: string }, steps: unknown[], agents = 4) =>
  daemon.client.changePlan(plan.id, 'launch', {
    provider: 'scripted',
    options: { scenario: await daemon.scenario(steps) },
    agents,
  });

/** Waits until the tasks of a plan have these states. */
async function become(plan: { id: string }, states: string[]) {
  return waitUntil(
    async () => {
      const detail = await daemon.client.showPlan(plan.id);
      const now = detail.tasks.map(({ state }) => state);
      if (JSON.stringify(now) === JSON.stringify(states)) return detail;
      throw new Error(`they are ${now.join(', ')}`);
    },
    { what: `the tasks to be ${states.join(', ')}` },
  );
}

/** The tasks that agents took, in order. */
async function taken(plan: { id: string }): Promise<string[]> {
  const { tasks } = await daemon.client.showPlan(plan.id);
  const names = new Map(tasks.map(({ id, name }) => [id, name]));
  const { events } = await daemon.client.events({ limit: 1000 });
  return events.flatMap(({ type, data }) => (type === 'task.taken' ? (names.get(String(data['taskId'])) ?? []) : []));
}

describe('approval', () => {
  test('is refused with errors or an old hash, and parked by warnings [planner 5, 6]', async () => {
    const [a, b] = [newId(), newId()];
    const circular = await planWith([
      { id: a, name: 'a', dependsOn: [b] },
      { id: b, name: 'b', dependsOn: [a] },
    ]);
    await expect(approve(circular)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/a → b → a|b → a → b/),
    });
    const plan = await planWith([{ files: ['x.ts'] }, { files: ['x.ts'] }]);
    const { plan: before } = await daemon.client.showPlan(plan.id);
    await daemon.client.editPlan(plan.id, { page: { title: 'More', text: 'new' } });
    const old = daemon.client.changePlan(plan.id, 'approve', { hash: before.hash, acceptWarnings: true });
    await expect(old).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('has changed') });
    const warned = daemon.client.changePlan(plan.id, 'approve', {});
    await expect(warned).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('both own x.ts') });
    await expect(launch(plan, ['complete'])).rejects.toMatchObject({ code: 'conflict' });
    const { plan: now } = await daemon.client.showPlan(plan.id);
    expect(
      (await daemon.client.changePlan(plan.id, 'approve', { hash: now.hash.slice(0, 12), acceptWarnings: true })).plan
        .state,
    ).toBe('approved');
  });
});

describe('a launched plan', () => {
  test('runs wave by wave, within its limit, to its end [planner 10, 12]', async () => {
    const [one, two] = [newId(), newId()];
    const plan = await planWith(
      [
        { name: 'a', phaseId: one },
        { name: 'b', phaseId: one },
        { name: 'c', phaseId: two },
      ],
      [
        { id: one, name: 'first' },
        { id: two, name: 'second', dependsOn: [one] },
      ],
    );
    await approve(plan);
    expect(await taken(plan)).toEqual([]);
    await launch(plan, ['complete'], 1);
    await become(plan, ['completed', 'completed', 'completed']);
    expect(await taken(plan)).toEqual(['a', 'b', 'c']);
    expect((await daemon.client.showPlan(plan.id)).plan.state).toBe('completed');
  });

  test('stops after a phase until a person has approved it, in mode review [planner 18]', async () => {
    const [one, two] = [newId(), newId()];
    const plan = await planWith(
      [
        { name: 'a', phaseId: one },
        { name: 'b', phaseId: two },
      ],
      [
        { id: one, name: 'first' },
        { id: two, name: 'second', dependsOn: [one] },
      ],
      'review',
    );
    await approve(plan);
    await launch(plan, ['complete']);
    const { plan: waiting } = await become(plan, ['completed', 'blocked']);
    expect(waiting.state).toBe('in_review');
    await expect(daemon.client.approvePhase(plan.id, { phase: 'second' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await daemon.client.approvePhase(plan.id);
    await become(plan, ['completed', 'completed']);
    await daemon.client.approvePhase(plan.id, { phase: 'second' });
    expect((await daemon.client.showPlan(plan.id)).plan.state).toBe('completed');
  });

  test('starts nothing more once it is edited or paused, and goes on without doubling anything [planner 4, 9, 24]', async () => {
    const plan = await planWith([{ name: 'a' }, { name: 'b', priority: 'low' }, { name: 'c' }]);
    await approve(plan);
    await launch(plan, [{ say: 'standing by' }, 'hang'], 1);
    const { tasks } = await become(plan, ['in_progress', 'pending', 'pending']);
    await daemon.client.changePlan(plan.id, 'pause');
    await daemon.client.stopAgent(tasks[0]?.agent?.id ?? '');
    // The stop counts for nothing, and the task waits with the others.
    const paused = await become(plan, ['pending', 'pending', 'pending']);
    expect(paused.tasks[0]).toMatchObject({ crashes: 0, detail: expect.stringContaining('paused') });
    // A raised priority counts at once, and is no edit.
    await daemon.client.changeTask(tasks[1]?.id ?? '', 'edit', { priority: 'high' });
    await daemon.client.changePlan(plan.id, 'resume');
    await become(plan, ['pending', 'in_progress', 'pending']);
    expect(await taken(plan)).toEqual(['a', 'b']);
    const edited = await daemon.client.editPlan(plan.id, { page: { title: 'More', text: 'new' } });
    expect(edited.plan.state).toBe('planned');
    expect(edited.tasks[2]?.detail).toContain('edited after its approval');
    await daemon.client.stopAgent(edited.tasks[1]?.agent?.id ?? '');
    await become(plan, ['pending', 'pending', 'pending']);
    expect(await taken(plan)).toEqual(['a', 'b']);
    await daemon.client.changePlan(plan.id, 'archive');
  });

  test('blocks a task after three crashes, and then runs what is there for that [planner 11, 14]', async () => {
    const a = newId();
    const plan = await planWith([
      { id: a, name: 'a' },
      { name: 'b', ifFailed: [a] },
    ]);
    await approve(plan);
    await launch(plan, [{ signal: { status: 'error', error: 'no way' } }]);
    const { tasks } = await become(plan, ['blocked', 'blocked']);
    expect(tasks.map(({ crashes }) => crashes)).toEqual([3, 3]);
    expect(await taken(plan)).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    expect(tasks[0]?.detail).toContain('crashed 3 times');
    await daemon.client.changePlan(plan.id, 'archive');
  });

  test('starts nothing more once its budget is used up, whatever its mode, until it is raised [planner 21]', async () => {
    const plan = await planWith([{ name: 'a' }, { name: 'b', createdAt: 2 }]);
    await daemon.client.editPlan(plan.id, { budget: { usd: 1 } });
    await approve(plan);
    await launch(plan, [{ usage: { input: 10, output: 5, cost: 1.5 } }, 'complete'], 1);
    const { tasks, plan: now } = await become(plan, ['completed', 'pending']);
    expect(tasks[1]?.detail).toContain('the budget of its plan is used up (1.5 of 1 US dollars)');
    expect(now.spent).toMatchObject({ inputTokens: 10, outputTokens: 5, costUsd: 1.5 });
    await daemon.client.editPlan(plan.id, { budget: { usd: 5 } });
    await become(plan, ['completed', 'completed']);
    const minutes = daemon.client.editPlan(plan.id, { budget: { minutes: 5 } as never });
    await expect(minutes).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('gets what an agent finds as a sibling, once, and waits for its approval [planner 16]', async () => {
    const phase = newId();
    const plan = await planWith([{ name: 'a', phaseId: phase, phase: 'first' }], [{ id: phase, name: 'first' }]);
    await approve(plan);
    await launch(plan, [{ say: 'standing by' }, 'hang']);
    const { tasks } = await become(plan, ['in_progress']);
    const agentId = tasks[0]?.agent?.id ?? '';
    const own = agentClient(daemon.home, agentId);
    const { task } = await own.addTask({ name: 'also this', agent: agentId });
    expect((await own.addTask({ name: ' Also  THIS', agent: agentId })).created).toBe(false);
    expect(task).toMatchObject({ initiativeId: plan.id, phaseId: phase, foundWhile: tasks[0]?.id, state: 'pending' });
    expect(task.detail).toContain('found after the plan was approved');
    expect((await daemon.client.showPlan(plan.id)).plan.state).toBe('working');
    await daemon.client.changePlan(plan.id, 'archive');
    await daemon.client.stopAgent(agentId);
  });
});

test('eight dispatchers start each of 100 tasks once [planner 8]', async () => {
  const plan = await planWith(Array.from({ length: 100 }, (_, index) => ({ name: `t${index}` })));
  await approve(plan);
  const store = storeOf(daemon.home.root);
  const started: string[] = [];
  const claim = async (_: SessionPlatform, initiative: { projectId: string }, task: Task) => {
    await store
      .write((tx) => claimTask(tx, task.id, initiative.projectId, newId()))
      .then(({ name }) => started.push(name))
      .catch(() => undefined);
  };
  const log = { error: (fields: unknown) => expect(fields).toBeUndefined() };
  const dispatches = Array.from({ length: 8 }, () =>
    startDispatch({ store, log } as unknown as SessionPlatform, claim as never),
  );
  // Paused first, so that the daemon's own dispatch leaves it alone.
  await daemon.client.changePlan(plan.id, 'pause');
  await launch(plan, ['complete'], 1_000).catch(() => undefined);
  await waitUntil(() => started.length >= 100, { what: 'all tasks to start' });
  for (const dispatch of dispatches) await dispatch.close();
  expect(new Set(started).size).toBe(100);
  expect(started).toHaveLength(100);
  await daemon.client.changePlan(plan.id, 'archive');
});
