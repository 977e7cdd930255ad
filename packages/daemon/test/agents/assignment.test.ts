import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionMails } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const assignmentOf = async (id: string) => (await viewOf(daemon.client, id)).assignment;

/** The task that state.json shows for an agent. */
function taskInFile(alias: string): unknown {
  const state = JSON.parse(readFileSync(daemon.home.state, 'utf8')) as {
    repos: Record<string, { agents: Record<string, { task: unknown }> }>;
  };
  return state.repos['sample']?.agents[alias]?.task;
}

describe('the work given to an agent stays its task [S4-25]', () => {
  test('while mail starts its next turn, in listings, state.json, its history and its completion mail', async () => {
    const agent = await daemon.work(['complete', 'complete'], { task: 'Fix the login\nwith care' });
    await daemon.ended(agent.id);
    await daemon.client.sendMail({ to: agent.id, body: 'look at this' }, randomUUID());
    const woken = await waitUntil(
      async () => {
        const view = await daemon.ended(agent.id);
        return view.run?.task.startsWith('You have new mail') ? view : null;
      },
      { what: 'the turn that the mail began' },
    );
    expect(woken.assignment).toBe('Fix the login\nwith care');
    const listed = (await daemon.client.listAgents({})).agents.find(({ id }) => id === agent.id);
    expect(listed?.assignment).toBe('Fix the login\nwith care');
    await waitUntil(() => taskInFile(agent.alias) === 'Fix the login\nwith care', { what: 'state.json' });
    expect(await daemon.client.history(agent.id)).toMatchObject({ alias: agent.alias, assignment: woken.assignment });
    await daemon.client.completeAgent(agent.id, {});
    const [mail] = await completionMails(daemon.home.root, agent.id);
    expect(mail?.body).toContain('has completed its task: Fix the login');
  });

  test('for a planned task by its name, for a fork by its prompt, for an errand by its description', async () => {
    const { task } = await daemon.client.addTask({ path: daemon.repository, name: 'Plan B', description: 'at length' });
    const planned = await daemon.work(['complete'], { task: 'and be quick', planned: task.id });
    expect(planned.assignment).toBe('Plan B');
    const parent = await daemon.rested();
    expect((await daemon.fork(parent.id, { switch: false, prompt: 'Try it the other way' })).assignment).toBe(
      'Try it the other way',
    );
    const bare = await daemon.fork(parent.id, { switch: false });
    expect(bare.assignment).toBeNull();
    await daemon.client.resumeAgent(bare.id, { prompt: 'Now you' }, randomUUID());
    expect(await assignmentOf(bare.id)).toBe('Now you');
    const errand = await daemon.work(['complete', 'complete'], { task: 'Fix a typo', mode: 'errand' });
    await daemon.ended(errand.id);
    await daemon.client.sendErrand(errand.id, { message: 'in the docs, too' }, randomUUID());
    expect(await assignmentOf(errand.id)).toBe('Fix a typo');
  });

  test('until a person gives an agent with finished work something new', async () => {
    const agent = await daemon.work(['complete', 'complete', 'complete'], {
      task: 'First',
    });
    await daemon.ended(agent.id);
    await daemon.client.resumeAgent(agent.id, {}, randomUUID());
    await daemon.ended(agent.id);
    expect(await assignmentOf(agent.id)).toBe('First');
    await daemon.client.resumeAgent(agent.id, { prompt: 'Second' }, randomUUID());
    await daemon.ended(agent.id);
    expect(await assignmentOf(agent.id)).toBe('Second');
  });

  test('and earlier finished work stays in the task history', async () => {
    const agent = await daemon.work(['complete', 'complete', 'complete'], { task: 'Three' });
    await daemon.ended(agent.id);
    await daemon.client.resumeAgent(agent.id, { prompt: 'Go' }, randomUUID());
    await daemon.ended(agent.id);
    const history = async () =>
      (await daemon.client.taskHistory({ limit: 50 })).tasks.filter((task) => task.agent.id === agent.id);
    expect(await history()).toMatchObject([
      { task: 'Go', state: 'no-pr' },
      { task: 'Three', state: 'no-pr' },
    ]);
    // The same work again is not a new entry, and later work does not change its outcome.
    await daemon.client.resumeAgent(agent.id, {}, randomUUID());
    await daemon.ended(agent.id);
    await daemon.client.completeAgent(agent.id, { failure: 'gave up' });
    const past = await history();
    expect(past.map(({ task, state }) => [task, state])).toEqual([
      ['Go', 'failed'],
      ['Three', 'no-pr'],
    ]);
    expect(past[1]?.endedAt).toBeLessThanOrEqual(past[0]?.startedAt ?? 0);
  });
});

test('a cost that the provider does not report is unknown, not zero', async () => {
  const free = await daemon.ended((await daemon.work([{ usage: { input: 9, output: 2, cost: 0 } }, 'complete'])).id);
  expect(free.cost).toEqual({ usd: null, tokens: 11 });
  const paid = await daemon.ended((await daemon.work([{ usage: { input: 9, output: 2, cost: 2 } }, 'complete'])).id);
  expect(paid.cost).toEqual({ usd: 2, tokens: 11 });
});
