import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBudget } from '@pawl/schema/record';
import type { TestDaemon } from './support/daemon.ts';
import { startTestDaemon } from './support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    choices: { budgets: { agent: noBudget, task: { ...noBudget, turns: 50 }, project: noBudget } },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function breaches(agentId: string) {
  const { events } = await daemon.client.events({ agent: agentId, limit: 1000 });
  return events.filter(({ type }) => type === 'budget.exceeded').map(({ data }) => data);
}

describe('a budget', () => {
  test('of time stops the turn that runs, and says so', async () => {
    const agent = await daemon.work([{ say: 'I begin' }, 'hang'], { budget: { minutes: 0.01 } });
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: {
        status: 'failed',
        detail: expect.stringMatching(/^the budget of the agent is used up: .* of 0.01 minutes$/),
      },
    });
    expect(await breaches(agent.id)).toEqual([{ of: 'agent', detail: expect.stringContaining('minutes') }]);
  });

  test('of tokens keeps a used-up agent from another turn, whatever its provider charges', async () => {
    const steps = [{ usage: { input: 900, output: 200, cost: 0 } }, { complete: { summary: 'first' } }, 'complete'];
    const agent = await daemon.work(steps, { budget: { tokens: 1_000 } });
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, usage: { costUsd: 0 } });
    await daemon.client.resumeAgent(agent.id, { prompt: 'more' }, 'a-key-of-this-test');
    expect(await daemon.ended(agent.id)).toMatchObject({
      run: { status: 'failed', detail: 'the budget of the agent is used up: 1100 of 1000 tokens' },
    });
  });

  test('of a child is its parent’s', async () => {
    const parent = await daemon.work(['complete'], { budget: { usd: 7 } });
    await daemon.ended(parent.id);
    expect(await daemon.fork(parent.id, { switch: false })).toMatchObject({ budget: { usd: 7, tokens: null } });
  });
});
