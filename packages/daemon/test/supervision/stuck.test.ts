import type { Event } from '@pawl/schema/event';
import { waitUntil } from '@pawl/testing/wait-until';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { allEvents, mailIs, send } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

const minuteMs = 60_000;
const seen = { what: 'the look that sees it' };
let now = Date.now();
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => now });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** Some minutes, with a check every second one and at the end. */
async function pass(minutes: number): Promise<void> {
  for (let left = minutes; left > 0; left -= 2) {
    now += Math.min(left, 2) * minuteMs;
    await daemon.loops.health();
  }
}

async function detailOf(agentId: string): Promise<string> {
  return (await daemon.client.listAgents({})).agents.find(({ id }) => id === agentId)?.detail ?? '';
}

async function eventsOf(agentId: string, ...types: string[]): Promise<Event[]> {
  return (await allEvents(daemon.client)).filter((event) => event.agentId === agentId && types.includes(event.type));
}

describe('an agent without progress is marked, and not ended: [S4-04, field note 4]', () => {
  test('a hung stream, after half an hour and not before; messages to it are not progress', async () => {
    const agent = await daemon.work([{ say: 'thinking about it' }, 'hang']);
    await outputHas(daemon.client, agent.id, 'thinking about it');
    await daemon.loops.health();
    await pass(29);
    expect(await eventsOf(agent.id, 'agent.stuck')).toEqual([]);
    await pass(1);
    expect(await detailOf(agent.id)).toBe('stuck: no output for 30 minutes');
    await mailIs(daemon.client, await send(daemon.client, agent.id, 'are you there?'), 'sent');
    await pass(3);
    expect((await eventsOf(agent.id, 'agent.stuck')).map(({ data }) => data)).toEqual([
      { reason: 'no output for 30 minutes' },
    ]);
    expect((await viewOf(daemon.client, agent.id)).run?.status).toBe('running');
    await daemon.client.stopAgent(agent.id);
    await pass(1);
    expect(await eventsOf(agent.id, 'agent.unstuck'), 'its run is over').toHaveLength(1);
  });

  test('not a silent build of half an hour, nor after a machine slept for two, but one of two hours', async () => {
    const build = { tool: { name: 'Bash', input: { command: 'make all' }, takes: '1h' } };
    const agent = await daemon.work([build]);
    await outputHas(daemon.client, agent.id, 'make all');
    await daemon.loops.health();
    now += 120 * minuteMs;
    await daemon.loops.health();
    await pass(117);
    expect(await eventsOf(agent.id, 'agent.stuck')).toEqual([]);
    await pass(1);
    expect(await detailOf(agent.id)).toBe('stuck: no output for 120 minutes');
    await daemon.client.stopAgent(agent.id);
  });

  test('a tight loop of one tool at once, until it gets another result', async () => {
    const [rounds, go] = [join(daemon.home.root, 'rounds'), join(daemon.home.root, 'go')];
    const step = `echo . >> ${rounds}; if [ $(wc -l < ${rounds}) -gt 8 ]; then until [ -e ${go} ]; do sleep 0.05; done; echo works; else echo fails; fi`;
    const agent = await daemon.work([{ repeat: { times: 9, steps: [{ shell: step }] } }, 'hang']);
    const called = async () => (await daemon.client.history(agent.id)).messages.filter((m) => m.kind === 'tool_call');
    await waitUntil(async () => (await called()).length === 9, { what: 'the ninth call' });
    await pass(1);
    expect(await detailOf(agent.id)).toBe('stuck: the same call of Bash, with the same result, 8 times in a row');
    writeFileSync(go, '');
    await outputHas(daemon.client, agent.id, 'works');
    await waitUntil(async () => {
      await daemon.loops.health();
      return (await eventsOf(agent.id, 'agent.unstuck')).length === 1;
    }, seen);
    expect(await detailOf(agent.id)).not.toContain('stuck');
    await daemon.client.stopAgent(agent.id);
  });

  test('an agent that repeats itself', async () => {
    const agent = await daemon.work([{ repeat: { times: 4, steps: [{ say: 'I am nearly done.' }] } }, 'hang']);
    await waitUntil(async () => {
      await daemon.loops.health();
      return (await detailOf(agent.id)) === 'stuck: the same answer 4 times in a row';
    }, seen);
    await daemon.client.stopAgent(agent.id);
  });
});

test('its supervisor is told by mail, once, and so is every agent with a role that it notifies [W4-17]', async () => {
  const lasting = { kind: 'main', class: 'persistent', tools: ['*'] };
  daemon.define('overseer', { name: 'overseer', role: 'oversight', ...lasting });
  daemon.define('bystander', { name: 'bystander', role: 'other', ...lasting });
  daemon.define('builder', { kind: 'main', class: 'ephemeral', tools: ['*'], notify: ['parent', 'oversight'] });
  const [overseer, bystander] = await Promise.all(
    ['overseer', 'bystander'].map((definition) => daemon.work([{ say: 'here' }, 'complete'], { definition })),
  );
  const steps = [{ say: 'hello' }, 'complete', { repeat: { times: 4, steps: [{ say: 'again' }] } }, 'hang'];
  const parent = await daemon.work(steps, { definition: 'builder' });
  for (const agent of [overseer, bystander, parent]) await daemon.ended(agent?.id ?? '');
  const child = await daemon.fork(parent.id, { prompt: 'go on', switch: false });
  await waitUntil(async () => {
    await daemon.loops.health();
    return (await eventsOf(child.id, 'agent.stuck')).length === 1;
  }, seen);
  await pass(2);
  const told = (await allEvents(daemon.client)).filter(
    ({ type, data, agentId }) =>
      type === 'mail.sent' &&
      data['kind'] === 'system' &&
      [overseer?.id, bystander?.id, parent.id, child.id].includes(agentId ?? ''),
  );
  expect(told).toHaveLength(2);
  expect(new Set(told.map(({ agentId }) => agentId))).toEqual(new Set([overseer?.id, parent.id]));
  await daemon.client.stopAgent(child.id);
});

test('a crash loop ends after three restarts, flagged; no agent is restarted needlessly [W4-06, field note 4]', async () => {
  daemon.define('keeper', { kind: 'main', class: 'persistent', tools: ['*'] });
  const crash = [{ say: 'up' }, { crash: { code: 3 } }];
  const [looping, recovering, stopped, worker] = await Promise.all([
    daemon.work([{ repeat: { times: 9, steps: crash } }], { definition: 'keeper' }),
    daemon.work([...crash, 'recall', 'complete'], { definition: 'keeper' }),
    daemon.work([{ say: 'up' }, 'hang'], { definition: 'keeper' }),
    daemon.work(crash),
  ]);
  await daemon.client.stopAgent(stopped.id);
  const atRest = async () => {
    const { agents } = await daemon.client.listAgents({});
    return [looping, recovering, worker].every(({ id }) =>
      agents.some((agent) => agent.id === id && agent.run?.status !== 'running'),
    );
  };
  for (let minute = 0; minute < 12; minute++) {
    await waitUntil(atRest, { what: 'their runs to be over' });
    await pass(1);
  }
  now += 120 * minuteMs;
  await pass(4);
  const { agent, runs, sessions } = await daemon.client.inspectAgent(looping.id);
  expect(agent).toMatchObject({ status: 'running', activity: 'crashed' });
  expect(agent.detail).toMatch(/^stuck: it crashed 4 times within an hour, last with: /);
  const pauses = runs.slice(1).map((run, index) => (run.startedAt - (runs[index]?.endedAt ?? 0)) / minuteMs);
  expect(pauses).toEqual([1, 2, 4]);
  expect((await eventsOf(looping.id, 'agent.restarted')).map(({ data }) => data['attempt'])).toEqual([1, 2, 3]);
  expect(await eventsOf(looping.id, 'agent.stuck')).toHaveLength(1);
  expect(sessions.slice(1).every(({ conversation }) => conversation === 'resume')).toBe(true);
  expect(await daemon.promptOf(sessions[1]?.directory ?? '')).toContain('You were restarted');
  const outcomesOf = async (id: string) =>
    (await daemon.client.inspectAgent(id, { worktree: false })).runs.map(({ outcome }) => outcome);
  expect(await outcomesOf(recovering.id)).toEqual(['failed', 'completed']);
  expect(await outcomesOf(stopped.id)).toEqual(['cancelled']);
  expect(await outcomesOf(worker.id), 'who had one task is never begun again').toEqual(['failed']);
  for (const { id } of [recovering, stopped, worker]) expect(await eventsOf(id, 'agent.stuck')).toEqual([]);
});
