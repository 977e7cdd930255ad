import { endurance } from '@pawl/testing/endurance';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { outputHas, outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('a fork', () => {
  test('without a prompt the child is registered, both wait, and both histories record it once [S1-13, W1-03, W1-07]', async () => {
    const parent = await daemon.rested();
    const child = await daemon.fork(parent.id);
    expect(child).toMatchObject({
      parentId: parent.id,
      supervisorId: parent.id,
      run: null,
      activity: 'idle',
      kind: 'main',
    });
    expect(child.forkMessageId).toBeGreaterThan(0);
    const [own, parents] = await Promise.all([daemon.client.history(child.id), daemon.client.history(parent.id)]);
    const notes = (page: typeof own, id: string) =>
      page.messages.filter((message) => message.kind === 'fork' && message.agentId === id).map(({ data }) => data);
    expect(notes(own, child.id)).toEqual([{ parentId: parent.id, forkMessageId: child.forkMessageId, role: 'child' }]);
    expect(notes(parents, parent.id)).toContainEqual({
      childId: child.id,
      forkMessageId: child.forkMessageId,
      role: 'parent',
    });
  });

  test('the child starts with the parent’s conversation, and stores only its own [S1-17, S1-32]', async () => {
    const parent = await daemon.rested('a word to remember');
    const child = await daemon.fork(parent.id);
    const page = await daemon.client.history(child.id);
    expect(page.own).toBe(1);
    expect(page.inherited).toBe(page.messages.filter((message) => message.inherited).length);
    expect(page.messages.filter((message) => message.inherited).map(({ content }) => content)).toContain(
      'a word to remember',
    );
    await daemon.client.resumeAgent(parent.id, { prompt: 'said after the fork' }, randomUUID());
    await daemon.ended(parent.id);
    const later = (await daemon.client.history(child.id)).messages.map(({ content }) => content);
    expect(later).not.toContain('said after the fork');
  });

  test('with a prompt, it is the child’s first message, and the child knows its parent’s messages [S1-14, 7.20]', async () => {
    const parent = await daemon.rested();
    const child = await daemon.fork(parent.id, { prompt: 'look into the tests' });
    expect((await daemon.ended(child.id)).run?.status).toBe('completed');
    const { messages } = await daemon.client.history(child.id);
    const first = messages.find((message) => !message.inherited && message.kind === 'user');
    expect(first?.content).toBe('look into the tests');
    // The provider itself branched off the parent's conversation: it remembers both turns.
    const said = await outputText(daemon.client, child.id);
    expect(said).toContain('a task');
    expect(said).toContain('look into the tests');
    const { sessions } = await daemon.client.inspectAgent(child.id);
    expect(sessions[0]).toMatchObject({ conversation: 'fork', no: 1 });
    expect(sessions[0]?.argv).toContain('--fork-session');
    expect(sessions[0]?.providerSessionId).not.toBe(parent.session?.providerSessionId);
  });

  test('there is no depth limit, and a child of a child inherits everything [S1-33]', async () => {
    let agent = await daemon.rested('the beginning');
    for (let generation = 0; generation < 12; generation++) agent = await daemon.fork(agent.id);
    const page = await daemon.client.history(agent.id);
    expect(page.messages.map(({ content }) => content)).toContain('the beginning');
    expect(page.own).toBe(1);
  });

  test('a person stays where they are unless they ask to switch [S1-16, 7.17]', async () => {
    const parent = await daemon.rested();
    await daemon.fork(parent.id);
    expect((await daemon.client.selection()).current.alias).toBe('root');
    const child = await daemon.fork(parent.id, { switch: true });
    expect((await daemon.client.selection()).current.id).toBe(child.id);
    await daemon.fork(parent.id, { switch: false });
    expect((await daemon.client.selection()).current.id).toBe(child.id);
    const grandchild = await daemon.fork('@current');
    expect(grandchild.parentId).toBe(child.id);
    expect((await daemon.client.selection()).current.id).toBe(child.id);
    await daemon.client.switchAgent({ to: 'root' });
  });

  test('with switch_on_fork a person acts as the child unless the fork overrides it [S1-16]', async () => {
    await using switching = await startTestDaemon({ choices: { switchOnFork: true } });
    const parent = await switching.rested();
    const child = await switching.fork(parent.id);
    expect((await switching.client.selection()).current.id).toBe(child.id);
    await switching.fork(parent.id, { switch: false });
    expect((await switching.client.selection()).current.id).toBe(child.id);
  });

  test('of agent 0 needs a project, and inherits no conversation', async () => {
    const child = await daemon.fork('root', { prompt: 'a first task', path: daemon.repository });
    expect((await daemon.ended(child.id)).run?.status).toBe('completed');
    expect((await daemon.client.inspectAgent(child.id)).sessions[0]?.conversation).toBe('new');
    await expect(daemon.fork('root')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('the child’s branch starts where its parent’s is', async () => {
    const parent = await daemon.work([{ write: { path: 'new.txt', content: 'new\n' } }, { commit: 'new' }, 'complete']);
    await daemon.ended(parent.id);
    const child = await daemon.fork(parent.id);
    await waitUntil(() => existsSync(join(child.worktree ?? '', 'new.txt')), { what: 'the child’s worktree' });
    expect(child.baseCommit).toBe(await git(daemon.repository, ['rev-parse', `work/${parent.alias}`]));
  });

  test('a repeated request creates one child', async () => {
    const parent = await daemon.rested();
    const key = randomUUID();
    const made = await Promise.all([1, 2, 3].map(() => daemon.client.fork(parent.id, {}, key)));
    expect(new Set(made.map(({ agent }) => agent.id)).size).toBe(1);
  });

  const forks = endurance({ whole: 50, small: 15 });
  test(`${forks} forks of one agent at once are as many children, each with one pair of notes [8.1]`, async () => {
    const parent = await daemon.rested();
    const children = await Promise.all(Array.from({ length: forks }, () => daemon.fork(parent.id)));
    expect(new Set(children.map((child) => child.id)).size).toBe(forks);
    expect(new Set(children.map((child) => child.alias)).size).toBe(forks);
    const { messages } = await daemon.client.history(parent.id);
    const told = messages.filter((message) => message.kind === 'fork' && message.agentId === parent.id);
    for (const child of children) expect(told.filter(({ data }) => data?.['childId'] === child.id)).toHaveLength(1);
    const { events } = await daemon.client.events({ tail: 1000 });
    for (const child of children) {
      expect(events.filter((event) => event.type === 'agent.forked' && event.agentId === child.id)).toHaveLength(1);
    }
    await daemon.client.killAgent(parent.id, { cascade: true });
  });
});

describe('the barrier', () => {
  test('a fork waits for a running tool and says so, a second one is refused, a kill waits [S1-15, W1-05, W1-06, 8.3]', async () => {
    const gate = join(daemon.repository, '..', `gate-${randomUUID()}`);
    const parent = await daemon.work([
      { say: 'starting the tool' },
      { shell: `while [ ! -e '${gate}' ]; do sleep 0.02; done; echo passed` },
      'hang',
    ]);
    await outputHas(daemon.client, parent.id, 'while [');
    await expect(daemon.fork(parent.id, { wait: false })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('Bash'),
    });
    const waiting = daemon.fork(parent.id, { switch: false });
    await waitUntil(
      async () => {
        const { events } = await daemon.client.events({ agent: parent.id });
        return events.some((event) => event.type === 'agent.fork_waiting');
      },
      { what: 'the fork to wait' },
    );
    await expect(daemon.fork(parent.id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('in progress'),
    });
    const order: string[] = [];
    const killing = daemon.client.killAgent(parent.id, {}).then(() => order.push('killed'));
    writeFileSync(gate, '');
    const child = await waiting.then((agent) => {
      order.push('forked');
      return agent;
    });
    await killing;
    expect(order).toEqual(['forked', 'killed']);
    const { messages } = await daemon.client.history(child.id);
    const inherited = messages.filter((message) => message.inherited);
    expect(inherited.filter(({ kind }) => kind === 'tool_call')).toHaveLength(1);
    expect(inherited.filter(({ kind }) => kind === 'tool_result')).toHaveLength(1);
    expect(inherited.at(-1)?.content).toContain('passed');
  });

  test('a fork waits for a half-written answer [3.2.4]', async () => {
    const parent = await daemon.work([{ stream: { text: 'one two three four', for: '5s', pieces: 4 } }, 'hang']);
    await outputHas(daemon.client, parent.id, 'text_delta');
    await expect(daemon.fork(parent.id, { wait: false })).rejects.toMatchObject({ code: 'busy' });
    const child = await daemon.fork(parent.id, { switch: false });
    const { messages } = await daemon.client.history(child.id);
    expect(messages.filter((message) => message.inherited).at(-1)?.content).toBe('one two three four');
    await daemon.client.stopAgent(parent.id);
  });

  test('a fork whose requester has left is not made', async () => {
    const parent = await daemon.work([{ tool: { name: 'Slow', takes: '10m' } }]);
    await outputHas(daemon.client, parent.id, 'Slow');
    const before = (await daemon.client.listAgents({ all: true, limit: 1000 })).agents.length;
    const gone = new AbortController();
    const waiting = daemon.request('POST', `/api/agents/${parent.id}/fork`, {}, gone.signal);
    await waitUntil(
      async () => {
        const { events } = await daemon.client.events({ agent: parent.id });
        return events.some((event) => event.type === 'agent.fork_waiting');
      },
      { what: 'the fork to wait' },
    );
    gone.abort();
    await expect(waiting).rejects.toThrow();
    // The kill would wait forever if the fork still did.
    await daemon.client.killAgent(parent.id, {});
    expect((await daemon.client.listAgents({ all: true, limit: 1000 })).agents.length).toBe(before);
  });

  test('an agent forks itself from a tool call, at the message before it, and continues [S1-31, W1-08, 3.2.5]', async () => {
    const parent = await daemon.work([
      { say: 'before the call' },
      { pawl: ['fork', 'a task for the child', '--json'] },
      { say: 'after the call' },
      'complete',
    ]);
    expect((await daemon.ended(parent.id)).run?.status).toBe('completed');
    const { agents } = await daemon.client.listAgents({ limit: 1000 });
    const child = agents.find((agent) => agent.parentId === parent.id);
    expect(child?.run?.task).toBe('a task for the child');
    const { messages } = await daemon.client.history(child?.id ?? '');
    const inherited = messages.filter((message) => message.inherited).map(({ kind }) => kind);
    expect(inherited.filter((kind) => kind === 'tool_call').length).toBe(
      inherited.filter((kind) => kind === 'tool_result').length,
    );
    expect(messages.map(({ content }) => content)).toContain('before the call');
    expect(messages.filter((message) => message.inherited).map(({ content }) => content)).not.toContain(
      'after the call',
    );
    expect(await outputText(daemon.client, parent.id)).toContain(child?.id ?? 'no child');
    // The person's view does not change.
    expect((await daemon.client.selection()).current.id).not.toBe(child?.id);
  });
});
