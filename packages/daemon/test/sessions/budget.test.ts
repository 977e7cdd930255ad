import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '@pawl/schema/limit';
import { noBudget } from '@pawl/schema/record';
import { randomUUID } from 'node:crypto';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    choices: { budgets: { agent: noBudget, task: { ...noBudget, turns: 50 }, project: noBudget } },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function eventsOf(agentId: string, wanted: string) {
  const { events } = await daemon.client.events({ agent: agentId, limit: 1000 });
  return events.filter(({ type }) => type === wanted).map(({ data }) => data);
}

const breaches = (agentId: string) => eventsOf(agentId, 'budget.exceeded');

describe('a budget', () => {
  test('of time stops the running turn, and says so', async () => {
    const agent = await daemon.work([{ say: 'I begin' }, 'hang'], { budget: { minutes: 0.01 } });
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'over_budget',
      detail: expect.stringContaining(`pawl resume ${agent.alias} --budget minutes=N`),
      run: {
        status: 'failed',
        cause: { reason: 'budget', of: 'agent' },
        detail: expect.stringMatching(/^the budget of the agent is used up: .* of 0.01 minutes$/),
      },
    });
    expect(await breaches(agent.id)).toEqual([{ of: 'agent', detail: expect.stringContaining('minutes') }]);
    const { tasks } = await daemon.client.taskHistory();
    expect(tasks.find((each) => each.agent.id === agent.id)).toMatchObject({
      state: 'over-budget',
      detail: expect.stringContaining('minutes'),
    });
  });

  test('of tokens that is exceeded prevents completion, whatever the provider charges, until a person raises it', async () => {
    const usage = { usage: { input: 900, output: 200, cost: 0 } };
    const agent = await daemon.work([usage, { complete: { summary: 'first' } }, 'complete'], {
      budget: { tokens: 1_000 },
    });
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'over_budget',
      run: { status: 'failed', detail: 'the budget of the agent is used up: 1100 of 1000 tokens' },
      usage: { costUsd: 0 },
    });
    expect(await breaches(agent.id)).toEqual([{ of: 'agent', detail: '1100 of 1000 tokens' }]);
    for (const budget of [undefined, { tokens: 1_100 }, { turns: 3 }]) {
      const body = budget === undefined ? { prompt: 'more' } : { budget };
      await expect(daemon.client.resumeAgent(agent.id, body, randomUUID())).rejects.toMatchObject({
        code: 'budget',
        hint: expect.stringContaining(`pawl resume ${agent.alias} --budget tokens=N`),
      });
    }
    await expect(daemon.client.tellAgent(agent.id, { message: 'go on' }, randomUUID())).rejects.toMatchObject({
      code: 'budget',
    });
    expect((await viewOf(daemon.client, agent.id)).budget).toEqual({ ...noBudget, tokens: 1_000 });
    await daemon.client.resumeAgent(agent.id, { budget: { tokens: 50_000 } }, randomUUID());
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'idle',
      run: { status: 'completed' },
      budget: { ...noBudget, tokens: 50_000 },
    });
    expect((await eventsOf(agent.id, 'budget.changed'))[0]).toEqual({ budget: { ...noBudget, tokens: 50_000 } });
  });

  test('is removed by a person on request', async () => {
    const agent = await daemon.work(['complete'], { budget: { tokens: 1 } });
    await daemon.ended(agent.id);
    await expect(
      daemon.client.resumeAgent(agent.id, { budget: { tokens: null } }, randomUUID()),
    ).resolves.toBeDefined();
    await daemon.ended(agent.id);
    expect((await viewOf(daemon.client, agent.id)).budget).toEqual(noBudget);
  });

  test('of a planned task’s agent counts no crash: the task is requeued as often as necessary', async () => {
    const { task } = await daemon.client.addTask({ path: daemon.repository, name: 'an expensive task' });
    for (let round = 0; round < limits.taskCrashes; round++) {
      const steps = [{ usage: { input: 900, output: 200, cost: 0 } }, 'complete'];
      await daemon.ended((await daemon.work(steps, { task: '', planned: task.id, budget: { tokens: 1_000 } })).id);
    }
    expect((await daemon.client.showTask(task.id)).task).toMatchObject({ state: 'pending', crashes: 0 });
  });

  test('that is exceeded can be completed by a person, not by the agent', async () => {
    const usage = { usage: { input: 900, output: 200, cost: 0 } };
    const agent = await daemon.work([usage, 'complete'], { budget: { tokens: 1_000 } });
    await daemon.ended(agent.id);
    await expect(agentClient(daemon.home, agent.id).completeAgent('@current', {})).rejects.toMatchObject({
      code: 'budget',
    });
    const { agent: ended } = await daemon.client.completeAgent(agent.id, { summary: 'good enough' });
    expect(ended.status).not.toBe('running');
  });

  test('of a child is its parent’s', async () => {
    const parent = await daemon.work(['complete'], { budget: { usd: 7 } });
    await daemon.ended(parent.id);
    expect(await daemon.fork(parent.id, { switch: false })).toMatchObject({ budget: { usd: 7, tokens: null } });
  });
});
