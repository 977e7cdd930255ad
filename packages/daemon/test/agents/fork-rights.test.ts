import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('rights to create agents', () => {
  test('an agent forks only itself, with a prompt, and not when it is dead [S1-31]', async () => {
    const [one, other] = [await daemon.rested(), await daemon.rested()];
    const client = agentClient(daemon.home, one.id);
    await expect(client.fork(other.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    await expect(client.fork('@current', {}, randomUUID())).rejects.toMatchObject({ code: 'invalid_input' });
    const { agent } = await client.fork('@current', { prompt: 'mine' }, randomUUID());
    expect(agent.parentId).toBe(one.id);
    await daemon.client.killAgent(one.id, {});
    await expect(daemon.fork(one.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(client.fork('@current', { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('a main delegates to a subagent, which cannot create agents through any interface [S2-10, S2-13, S2-14, 7.2, 8.4]', async () => {
    daemon.define('chief', {
      kind: 'main',
      tools: ['*'],
      policy: { allow: ['Delegate'], delegate_targets: ['finder'] },
    });
    daemon.define('finder', { kind: 'subagent', tools: ['*'] });
    const body = { path: daemon.repository, provider: 'scripted' };
    await expect(daemon.work(undefined, { definition: 'finder' })).rejects.toMatchObject({ code: 'invalid_input' });
    const lead = await daemon.work(['hang'], { definition: 'chief' });
    await waitUntil(async () => (await viewOf(daemon.client, lead.id)).activity === 'running', {
      what: 'the lead to run',
    });
    const asLead = agentClient(daemon.home, lead.id);
    const scenario = await daemon.scenario([
      { pawl: ['fork', '--prompt', 'no'] },
      { pawl: ['work', 'no', '--as', 'worker'] },
      { pawl: ['work', 'no', '--as', 'finder'] },
      'complete',
    ]);
    const { agent: finder } = await asLead.work(
      { ...body, task: 'find it', definition: 'finder', options: { scenario } },
      randomUUID(),
    );
    expect(finder).toMatchObject({ kind: 'subagent', class: 'ephemeral', parentId: lead.id });
    const { runs } = await daemon.client.inspectAgent(finder.id);
    expect(runs[0]?.parentRunId).toBe(lead.run?.id);
    await daemon.ended(finder.id);
    const refusals = (await outputText(daemon.client, finder.id)).match(/delegation depth is 1/g);
    expect(refusals).toHaveLength(3);
    const asFinder = agentClient(daemon.home, finder.id);
    await expect(asFinder.fork('@current', { prompt: 'x' }, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    await expect(asFinder.work({ ...body, task: 'x' }, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    await expect(daemon.fork(finder.id)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(daemon.client.resumeAgent(finder.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const { agents } = await daemon.client.listAgents({ all: true, limit: 1000 });
    expect(agents.filter((agent) => agent.parentId === finder.id)).toEqual([]);
    await expect(asLead.work({ ...body, task: 'x', definition: 'worker' }, randomUUID())).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('finder'),
    });
    await daemon.client.killAgent(lead.id, {});
    expect((await viewOf(daemon.client, finder.id)).status).toBe('dead');
  });

  test('an agent cannot gain rights by rewriting its definition, or by writing another [S2-16]', async () => {
    daemon.define('meek', { kind: 'main', tools: ['Bash'], policy: ['Delegate'] });
    const meek = await daemon.work(['hang'], { definition: 'meek' });
    await waitUntil(async () => (await viewOf(daemon.client, meek.id)).activity === 'running', {
      what: 'it to run',
    });
    daemon.define('meek', { kind: 'main', tools: ['*'], policy: ['Patch', 'Delegate'] });
    daemon.define('bold', { kind: 'main', tools: ['*'], policy: ['Patch', 'Finalize'] });
    const client = agentClient(daemon.home, meek.id);
    const { agent: copy } = await client.fork('@current', { prompt: 'go' }, randomUUID());
    const { agent: bold } = await client.work(
      { path: daemon.repository, task: 'go', definition: 'bold', provider: 'scripted' },
      randomUUID(),
    );
    for (const { id } of [copy, bold]) {
      const definition = (await daemon.client.inspectAgent(id)).runs[0]?.definition;
      expect([id, definition?.tools, definition?.policy.allow.includes('Patch')]).toEqual([id, ['Bash'], false]);
    }
    await daemon.client.killAgent(meek.id, { cascade: true });
  });

  test('a request key is scoped to its caller, verb and target', async () => {
    const [one, other] = [await daemon.rested(), await daemon.rested()];
    const key = randomUUID();
    const { agent: made } = await daemon.client.fork(one.id, { switch: false }, key);
    const { agent: again } = await daemon.client.fork(other.id, { switch: false }, key);
    expect([made.parentId, again.parentId]).toEqual([one.id, other.id]);
    const { agent: own } = await agentClient(daemon.home, one.id).fork('@current', { prompt: 'x' }, key);
    expect([made.id, again.id]).not.toContain(own.id);
    await daemon.client.resumeAgent(other.id, { prompt: 'on' }, key);
    expect((await daemon.client.inspectAgent(other.id)).runs).toHaveLength(2);
  });

  test('reserved names are refused', async () => {
    for (const alias of ['root', 'parent', 'next']) {
      await expect(daemon.work(['complete'], { alias })).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  test('without Delegate in its policy an agent may not delegate, and the gate says so [S2-04, S2-17]', async () => {
    const worker = await daemon.rested();
    const client = agentClient(daemon.home, worker.id);
    const body = { path: daemon.repository, task: 'x', provider: 'scripted' };
    await expect(client.work(body, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    expect(await client.gate('@current', { action: 'Patch' })).toMatchObject({ allowed: true });
    expect(await client.gate('@current', { action: 'Delegate' })).toMatchObject({ allowed: false });
  });

  test('the access of an agent is stored, shown, in its prompt, and never wider than its parent’s [7.16]', async () => {
    daemon.define('careful', { kind: 'main', tools: ['*'], access: 'ask' });
    const careful = await daemon.work(['hang'], { definition: 'careful' });
    expect(careful.access).toBe('ask');
    expect((await daemon.work(['complete'])).access).toBe('full');
    const client = agentClient(daemon.home, careful.id);
    const more = client.fork('@current', { prompt: 'x', access: 'full' }, randomUUID());
    await expect(more).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('has ask') });
    const { agent: child } = await client.fork('@current', { prompt: 'x' }, randomUUID());
    expect(child.access).toBe('ask');
    await waitUntil(async () => (await viewOf(daemon.client, careful.id)).activity === 'running', {
      what: 'it to run',
    });
    const { system, turn } = await daemon.client.agentPrompt(careful.id);
    expect(system + turn).toContain('Your access is `ask`');
    await expect(daemon.work(['complete'], { access: 'read-only' })).rejects.toMatchObject({
      message: expect.stringContaining('no read-only mode'),
    });
    await daemon.client.killAgent(careful.id, {});
  });
});
