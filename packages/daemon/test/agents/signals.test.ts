import { processTable } from '@pawl/host/process/process-table';
import { strayProcesses } from '@pawl/host/session/stray';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputHas, outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function livingAgent(steps: unknown[] = [{ say: 'standing by' }, 'hang']) {
  const agent = await daemon.work(steps);
  await outputHas(daemon.client, agent.id, 'standing by');
  return agent;
}

async function view(id: string) {
  return viewOf(daemon.client, id);
}

async function processesOf(id: string) {
  const { sessions } = await daemon.client.inspectAgent(id);
  return sessions.flatMap((session) => strayProcesses(session.id));
}

describe('stop and resume', () => {
  test('a stopped agent stays, and continues its conversation in the next session [S1-06, 7.3]', async () => {
    const agent = await livingAgent([{ say: 'standing by' }, { hang: { once: true } }, 'recall', 'complete']);
    await daemon.client.stopAgent(agent.id);
    expect(await view(agent.id)).toMatchObject({
      status: 'running',
      activity: 'stopped',
      run: { status: 'cancelled' },
    });
    expect(await processesOf(agent.id)).toEqual([]);
    await daemon.client.resumeAgent(agent.id, { prompt: 'go on then' }, randomUUID());
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'idle',
      run: { task: 'go on then', status: 'completed' },
    });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ no, conversation }) => [no, conversation])).toEqual([
      [1, 'new'],
      [2, 'resume'],
    ]);
    expect(await outputText(daemon.client, agent.id)).toContain('a task\\ngo on then');
  });

  test('a repeated resume request starts one run, and a working agent is left alone [5.2.8]', async () => {
    const agent = await daemon.work([{ say: 'once' }, 'complete', { say: 'standing by' }, 'hang']);
    await daemon.ended(agent.id);
    const key = randomUUID();
    await Promise.all([1, 2].map(() => daemon.client.resumeAgent(agent.id, { prompt: 'again' }, key)));
    await outputHas(daemon.client, agent.id, 'standing by');
    expect((await daemon.client.inspectAgent(agent.id)).runs).toHaveLength(2);
    await expect(daemon.client.resumeAgent(agent.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'conflict',
    });
    await daemon.client.stopAgent(agent.id);
  });

  test('an edited or deleted definition affects later runs, not the current one [4.2.8]', async () => {
    daemon.define('short-lived', { kind: 'main', tools: ['*'] }, 'Say little.');
    const agent = await daemon.work([{ say: 'standing by' }, { hang: { once: true } }, 'complete'], {
      definition: 'short-lived',
    });
    await outputHas(daemon.client, agent.id, 'standing by');
    const path = join(daemon.repository, '.pawl', 'agents', 'short-lived.md');
    daemon.define('short-lived', { kind: 'main', tools: ['Read'] }, 'Say nothing.');
    expect(await agentClient(daemon.home, agent.id).gate('@current', { tool: 'Bash' })).toMatchObject({
      allowed: true,
    });
    rmSync(path);
    expect((await daemon.client.inspectAgent(agent.id)).runs[0]?.definition?.prompt).toContain('Say little.');
    await daemon.client.stopAgent(agent.id);
    await expect(daemon.client.resumeAgent(agent.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('short-lived'),
    });
    await expect(daemon.client.fork(agent.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('stop --all stops all agents, including those that have not started yet', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => daemon.work([{ say: 'standing by' }, 'hang'])));
    const { agents: stopped } = await daemon.client.stopAll();
    expect(stopped.map(({ id }) => id).toSorted()).toEqual(agents.map(({ id }) => id).toSorted());
    for (const { id } of agents) {
      expect((await view(id)).run?.status).toBe('cancelled');
      expect(await processesOf(id)).toEqual([]);
    }
    const { events } = await daemon.client.events({ tail: 200 });
    expect(events.filter(({ type }) => type === 'fleet.stopping').map(({ data }) => data['count'])).toEqual([3]);
    expect((await daemon.client.stopAll()).agents).toEqual([]);
  });
});

describe('pause and continue', () => {
  test('pauses all processes of the agent and continues them; a paused one does not count as hung, and can be killed [W1-15]', async () => {
    const agent = await livingAgent([
      { say: 'standing by' },
      { shell: 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 0.05; done' },
      'hang',
    ]);
    await daemon.client.signalAgent(agent.id, 'pause');
    expect(await view(agent.id)).toMatchObject({ paused: true, activity: 'running', detail: 'paused' });
    const halted = async () =>
      (await processesOf(agent.id)).filter(({ pid }) => processTable.read(pid)?.stopped === true);
    expect((await halted()).length).toBeGreaterThan(0);
    await daemon.client.signalAgent(agent.id, 'pause');
    await expect(daemon.client.signalAgent(agent.id, 'interrupt')).rejects.toMatchObject({ code: 'conflict' });
    await daemon.client.signalAgent(agent.id, 'continue');
    expect(await view(agent.id)).toMatchObject({ paused: false });
    await waitUntil(async () => (await halted()).length === 0, { what: 'everybody to go on' });
    await daemon.client.signalAgent(agent.id, 'pause');
    await daemon.client.killAgent(agent.id, {});
    expect(await processesOf(agent.id)).toEqual([]);
  });

  test('are refused without a process', async () => {
    const agent = await daemon.work(['complete']);
    await daemon.ended(agent.id);
    for (const verb of ['pause', 'continue', 'interrupt'] as const) {
      await expect(daemon.client.signalAgent(agent.id, verb)).rejects.toMatchObject({ code: 'conflict' });
    }
  });
});

test('an interrupt stops the agent; its run is cancelled and it can be resumed', async () => {
  const agent = await livingAgent([{ say: 'standing by' }, { hang: { once: true } }, 'complete']);
  await daemon.client.signalAgent(agent.id, 'interrupt');
  expect(await daemon.ended(agent.id)).toMatchObject({
    activity: 'idle',
    run: { status: 'cancelled', detail: 'interrupted on request' },
  });
  await daemon.client.resumeAgent(agent.id, {}, randomUUID());
  expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
});

describe('cancel', () => {
  test('cancels the run and those it started, children first; siblings continue, and a late end changes nothing [S2-15, 8.5]', async () => {
    daemon.define('chief', { kind: 'main', tools: ['*'], policy: ['Delegate'] });
    daemon.define('finder', { kind: 'subagent', tools: ['*'] });
    const lead = await daemon.work([{ say: 'standing by' }, 'hang'], { definition: 'chief' });
    await outputHas(daemon.client, lead.id, 'standing by');
    const scenario = await daemon.scenario([{ say: 'standing by' }, 'hang']);
    const { agent: finder } = await agentClient(daemon.home, lead.id).work(
      { path: daemon.repository, task: 'find', definition: 'finder', provider: 'scripted', options: { scenario } },
      randomUUID(),
    );
    await outputHas(daemon.client, finder.id, 'standing by');
    const sibling = await livingAgent();
    const { cancelled } = await daemon.client.cancelRun(lead.alias);
    expect(cancelled).toEqual([finder.run?.id, lead.run?.id]);
    for (const { id } of [lead, finder]) {
      expect(await view(id)).toMatchObject({ status: 'running', activity: 'idle', run: { status: 'cancelled' } });
      expect(await processesOf(id)).toEqual([]);
    }
    expect((await view(sibling.id)).activity).toBe('running');
    expect((await daemon.client.cancelRun(lead.id)).cancelled).toEqual([]);
    expect((await daemon.client.cancelRun(lead.run?.id ?? '')).cancelled).toEqual([]);
    const { events } = await daemon.client.events({ agent: lead.id });
    expect(events.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
    await daemon.client.stopAgent(sibling.id);
  });
});

test('the number of running sessions is limited; the others wait and show it [7.2]', async () => {
  await using limited = await startTestDaemon({ choices: { maxSessions: 2, maxAgents: 3 } });
  const agents = await Promise.all(
    Array.from({ length: 6 }, () => limited.work([{ say: 'standing by' }, { sleep: '300ms' }, 'complete'])),
  );
  let most = 0;
  let waited = false;
  await waitUntil(
    async () => {
      const { agents: views } = await limited.client.listAgents();
      most = Math.max(most, views.filter(({ activity }) => activity === 'running').length);
      waited ||= views.some(({ detail }) => detail === 'waiting for a free place');
      return views.every(({ run }) => run?.status === 'completed');
    },
    { what: 'all to complete' },
  );
  expect(most).toBeLessThanOrEqual(2);
  expect(waited).toBe(true);
  expect(agents).toHaveLength(6);
});
