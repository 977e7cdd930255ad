import { strayProcesses } from '@pawl/host/session/stray';
import { agentById, insertAgent } from '@pawl/store/agents/agents';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';
import { storeOf } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** An agent that runs until it is stopped. */
async function livingAgent() {
  const agent = await daemon.work([{ say: 'standing by' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'standing by');
  return agent;
}

async function child(parentId: string) {
  return (await daemon.client.fork(parentId, { switch: false }, randomUUID())).agent;
}

async function view(id: string) {
  return viewOf(daemon.client, id);
}

async function killEvents(target: string) {
  const { events } = await daemon.client.events({ agent: target });
  return events.filter((event) => event.type === 'agent.killed');
}

test('a kill ends the processes, cancels the run, and is recorded once, in the killer’s history [S1-20, S1-22, W1-11]', async () => {
  const agent = await livingAgent();
  const { killed, target } = await daemon.client.killAgent(agent.id.slice(0, 8), {});
  expect(killed).toEqual([{ id: agent.id, alias: agent.alias }]);
  expect(target).toMatchObject({ status: 'dead', run: { status: 'cancelled', detail: 'killed' } });
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  expect(sessions.flatMap((session) => strayProcesses(session.id))).toEqual([]);
  expect(sessions[0]?.endedAt).not.toBeNull();
  expect(await killEvents(agent.id)).toHaveLength(1);
  const { messages } = await daemon.client.history('root');
  const told = messages.filter((message) => message.kind === 'agent_killed' && message.data?.['target'] === agent.id);
  expect(told.map(({ data }) => data?.['count'])).toEqual([1]);
  // It stays in the registry, with its history.
  expect((await daemon.client.listAgents({ all: true, limit: 1000 })).agents.map(({ id }) => id)).toContain(agent.id);
  expect((await daemon.client.history(agent.id)).messages.map(({ content }) => content)).toContain('standing by');
});

test('agent 0 cannot be killed, a second kill changes nothing, and errors distinguish ambiguous from unknown [W1-09]', async () => {
  await expect(daemon.client.killAgent('root', {})).rejects.toMatchObject({ code: 'forbidden' });
  await expect(daemon.client.killAgent('root', { cascade: true })).rejects.toMatchObject({ code: 'forbidden' });
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  await daemon.client.killAgent(agent.id, {});
  expect((await daemon.client.killAgent(agent.id, {})).killed).toEqual([]);
  expect(await killEvents(agent.id)).toHaveLength(1);
  await expect(daemon.client.killAgent('no-such-agent', {})).rejects.toMatchObject({ code: 'agent_not_found' });
  // 3.2.14: an id prefix matches living agents for commands that act, and all agents for those that read.
  await expect(daemon.client.killAgent(agent.id.slice(0, 8), {})).rejects.toMatchObject({ code: 'agent_not_found' });
  expect((await viewOf(daemon.client, agent.id.slice(0, 8))).id).toBe(agent.id);
});

test('two agents with a common id prefix are refused until the prefix is unique [W1-09]', async () => {
  const agent = await daemon.work(['complete']);
  await daemon.ended(agent.id);
  const twin = `${agent.id.slice(0, 10)}${agent.id.slice(10) === 'A'.repeat(12) ? 'B'.repeat(12) : 'A'.repeat(12)}`;
  const store = storeOf(daemon.home.root);
  const row = await agentById(store.db, agent.id);
  if (row === null) throw new Error('no row');
  await store.write((tx) => insertAgent(tx, { ...row, id: twin, alias: 'the-twin', worktree: null }));
  await expect(daemon.client.killAgent(agent.id.slice(0, 10), {})).rejects.toMatchObject({ code: 'ambiguous' });
  await expect(daemon.client.history(agent.id.slice(0, 10))).rejects.toMatchObject({ code: 'ambiguous' });
  expect((await daemon.client.killAgent(agent.id.slice(0, 14), {})).killed.map(({ id }) => id)).toEqual([agent.id]);
  // Only one of them is still living.
  expect((await daemon.client.killAgent(agent.id.slice(0, 10), {})).killed.map(({ id }) => id)).toEqual([twin]);
});

test('main children survive under the nearest living ancestor, and keep what they inherited [S1-23, 7.3, 8.6]', async () => {
  const grandparent = await daemon.work([{ say: 'from the grandparent' }, 'complete']);
  await daemon.ended(grandparent.id);
  const parent = await child(grandparent.id);
  const one = await child(parent.id);
  const two = await child(one.id);
  const before = await daemon.client.history(one.id);
  const { resupervised } = await daemon.client.killAgent(parent.id, {});
  expect(resupervised).toEqual([{ id: one.id, alias: one.alias }]);
  expect(await view(one.id)).toMatchObject({
    status: 'running',
    parentId: parent.id,
    supervisorId: grandparent.id,
    forkMessageId: one.forkMessageId,
  });
  expect(await view(two.id)).toMatchObject({ supervisorId: one.id });
  expect((await daemon.client.history(one.id)).messages).toEqual(before.messages);
  await daemon.client.killAgent(grandparent.id, {});
  expect((await view(one.id)).supervisorId).toBe((await view('root')).id);
  await daemon.client.killAgent(one.id, { cascade: true });
  expect((await view(two.id)).status).toBe('dead');
});

test('a cascade kills all descendants, children first, in one event with their number [S1-21, W1-12]', async () => {
  const top = await livingAgent();
  const [left, right] = [await child(top.id), await child(top.id)];
  const below = await child(left.id);
  // One that is already dead, with a living child.
  await daemon.client.killAgent(left.id, {});
  const { killed } = await daemon.client.killAgent(top.id, { cascade: true });
  expect(killed.map(({ id }) => id).toSorted()).toEqual([top.id, right.id, below.id].toSorted());
  expect(killed.at(-1)?.id).toBe(top.id);
  const [event, ...others] = await killEvents(top.id);
  expect(others).toEqual([]);
  expect(event?.data).toMatchObject({ target: top.id, cascade: true, count: 3 });
  for (const { id } of killed) expect((await view(id)).status).toBe('dead');
});

test('a cascade from a dead agent reaches its surviving descendants', async () => {
  const top = await daemon.work(['complete']);
  await daemon.ended(top.id);
  const below = await child(top.id);
  await daemon.client.killAgent(top.id, {});
  expect((await view(below.id)).status).toBe('running');
  expect((await daemon.client.killAgent(top.id, { cascade: true })).killed.map(({ id }) => id)).toEqual([below.id]);
  expect((await daemon.client.killAgent(top.id, { cascade: true })).killed).toEqual([]);
});

test('without a name a person kills the agent they act as, and then acts as its parent, which is told [S1-19, W1-10]', async () => {
  const parent = await daemon.work(['complete']);
  await daemon.ended(parent.id);
  const { agent } = await daemon.client.fork(parent.id, { switch: true }, randomUUID());
  expect((await daemon.client.selection()).current.id).toBe(agent.id);
  await daemon.client.killAgent('@current', {});
  expect((await view(agent.id)).status).toBe('dead');
  expect((await daemon.client.selection()).current.id).toBe(parent.id);
  const { messages } = await daemon.client.history(parent.id);
  expect(messages.filter(({ kind }) => kind === 'agent_killed').map(({ data }) => data?.['target'])).toEqual([
    agent.id,
  ]);
  await daemon.client.switchAgent({ to: 'root' });
});

test('a person’s work descends from agent 0 whichever agent they act as, so kill --cascade spares it [W1-10]', async () => {
  const top = await daemon.work(['complete']);
  await daemon.ended(top.id);
  await daemon.client.switchAgent({ to: top.id });
  const worker = await daemon.work(['hang']);
  const errand = await daemon.work(['hang'], { mode: 'errand' });
  const below = await child(top.id);
  const { id: root } = (await daemon.client.inspectAgent('root', { worktree: false })).agent;
  expect([worker.parentId, errand.parentId]).toEqual([root, root]);
  const { killed } = await daemon.client.killAgent(top.id, { cascade: true });
  expect(killed.map(({ id }) => id).toSorted()).toEqual([top.id, below.id].toSorted());
  expect((await view(worker.id)).status).not.toBe('dead');
  expect((await view(errand.id)).status).not.toBe('dead');
  for (const { id } of [worker, errand]) await daemon.client.killAgent(id, {});
  expect((await daemon.client.selection()).current.alias).toBe('root');
});

test('an agent kills itself from a tool call; the person stays where they are, and its parent is told [3.2.13]', async () => {
  const agent = await daemon.work([{ pawl: ['kill'] }, 'hang']);
  await waitUntil(async () => (await view(agent.id)).status === 'dead', { what: 'the self-kill' });
  await waitUntil(
    async () =>
      (await daemon.client.inspectAgent(agent.id, { worktree: false })).sessions.every(
        ({ endedAt }) => endedAt !== null,
      ),
    { what: 'its session to end' },
  );
  expect((await daemon.client.selection()).current.alias).toBe('root');
  const { messages } = await daemon.client.history('root');
  expect(messages.some(({ kind, data }) => kind === 'agent_killed' && data?.['killedBy'] === agent.id)).toBe(true);
});

test('an agent may kill itself and its descendants, no other agent, and may not reap, stop or resume [fault 48]', async () => {
  const [one, other] = [await daemon.work(['complete']), await daemon.work(['complete'])];
  await Promise.all([daemon.ended(one.id), daemon.ended(other.id)]);
  const own = await child(one.id);
  const client = agentClient(daemon.home, one.id);
  await expect(client.killAgent(other.id, {})).rejects.toMatchObject({ code: 'forbidden' });
  await expect(client.killAgent('root', {})).rejects.toMatchObject({ code: 'forbidden' });
  await expect(client.signalAgent(own.id, 'reap')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(client.stopAll()).rejects.toMatchObject({ code: 'forbidden' });
  expect((await client.killAgent(own.id, {})).killed).toHaveLength(1);
});

test('late output of a killed agent is not part of any history [3.2.7]', async () => {
  const gate = join(daemon.home.root, 'killed');
  const agent = await daemon.work([
    { say: 'in time' },
    { shell: `trap "" TERM; echo started; until [ -e '${gate}' ]; do sleep 0.02; done; echo too late` },
    { say: 'much too late' },
    'complete',
  ]);
  await outputHas(daemon.client, agent.id, 'trap');
  const killing = daemon.client.killAgent(agent.id, {});
  await waitUntil(async () => (await view(agent.id)).status === 'dead', { what: 'the kill to be on record' });
  writeFileSync(gate, '');
  await killing;
  const { messages } = await daemon.client.history(agent.id);
  expect(messages.map(({ kind }) => kind)).toEqual(['fork', 'user', 'assistant', 'tool_call']);
  expect(messages[2]?.content).toBe('in time');
  expect((await view(agent.id)).run?.status).toBe('cancelled');
});

test('a reaped agent is hidden, and its row and history stay [W1-14]', async () => {
  const agent = await daemon.work([{ say: 'a last word' }, 'complete']);
  await daemon.ended(agent.id);
  await expect(daemon.client.signalAgent(agent.id, 'reap')).rejects.toMatchObject({ code: 'conflict' });
  await daemon.client.killAgent(agent.id, {});
  expect((await daemon.client.signalAgent(agent.id, 'reap')).agent.status).toBe('reaped');
  const listed = async (query: object) =>
    (await daemon.client.listAgents({ limit: 1000, ...query })).agents.some(({ id }) => id === agent.id);
  expect(await listed({ all: true })).toBe(false);
  expect(await listed({ reaped: true })).toBe(true);
  expect((await daemon.client.history(agent.id)).messages.map(({ content }) => content)).toContain('a last word');
});

test('a child forked during a kill either dies with its parent or never existed', async () => {
  for (let round = 0; round < 5; round++) {
    const parent = await daemon.work(['complete']);
    await daemon.ended(parent.id);
    const fork = daemon.client.fork(parent.id, { switch: false }, randomUUID()).catch((error: unknown) => error);
    const kill = daemon.client.killAgent(parent.id, { cascade: true });
    const [made] = await Promise.all([fork, kill]);
    const { agents } = await daemon.client.listAgents({ all: true, limit: 1000 });
    const children = agents.filter((agent) => agent.parentId === parent.id);
    if (made instanceof Error) expect(children).toEqual([]);
    else expect(children.map(({ status }) => status)).toEqual(['dead']);
  }
});
