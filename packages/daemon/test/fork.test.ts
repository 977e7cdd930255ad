import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ForkBody } from '@pawl/protocol/view';
import { agentClient } from './support/agent-client.ts';
import type { TestDaemon } from './support/daemon.ts';
import { startTestDaemon } from './support/daemon.ts';
import { outputHas, outputText } from './support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function fork(reference: string, body: ForkBody = {}) {
  return (await daemon.client.fork(reference, body, randomUUID())).agent;
}

/** An agent that has said something and waits for more. */
async function restingAgent(words = 'hello there') {
  const agent = await daemon.work([{ say: words }, 'complete', 'recall', 'complete']);
  return daemon.ended(agent.id);
}

describe('a fork', () => {
  test('S1-13, W1-03, W1-07: without a prompt the child is in the registry, both wait, and both histories tell it once', async () => {
    const parent = await restingAgent();
    const child = await fork(parent.id);
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

  test('S1-17, S1-32: the child begins with the parent’s conversation, and stores only its own', async () => {
    const parent = await restingAgent('a word to remember');
    const child = await fork(parent.id);
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

  test('S1-14, 7.20: with a prompt the child gets it as its first message, and knows what its parent was told', async () => {
    const parent = await restingAgent();
    const child = await fork(parent.id, { prompt: 'look into the tests' });
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

  test('S1-33: there is no limit to depth, and a child of a child inherits all of it', async () => {
    let agent = await restingAgent('the beginning');
    for (let generation = 0; generation < 12; generation++) agent = await fork(agent.id);
    const page = await daemon.client.history(agent.id);
    expect(page.messages.map(({ content }) => content)).toContain('the beginning');
    expect(page.own).toBe(1);
  });

  test('S1-16, 7.17: a person goes on as the child unless they say otherwise', async () => {
    const parent = await restingAgent();
    const child = await fork(parent.id);
    expect((await daemon.client.desk()).current.id).toBe(child.id);
    await fork(parent.id, { switch: false });
    expect((await daemon.client.desk()).current.id).toBe(child.id);
    await fork('@current');
    expect((await daemon.client.desk()).current.parentId).toBe(child.id);
    await daemon.client.switchDesk({ to: 'root' });
  });

  test('of agent 0 needs a project, and inherits no conversation', async () => {
    const child = await fork('root', { prompt: 'a first task', path: daemon.repository });
    expect((await daemon.ended(child.id)).run?.status).toBe('completed');
    expect((await daemon.client.inspectAgent(child.id)).sessions[0]?.conversation).toBe('new');
    await expect(fork('root')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('the child’s branch starts where its parent’s is', async () => {
    const parent = await daemon.work([{ write: { path: 'new.txt', content: 'new\n' } }, { commit: 'new' }, 'complete']);
    await daemon.ended(parent.id);
    const child = await fork(parent.id);
    await waitUntil(() => existsSync(join(child.worktree ?? '', 'new.txt')), { what: 'the child’s worktree' });
    expect(child.baseCommit).toBe(await git(daemon.repository, ['rev-parse', `work/${parent.alias}`]));
  });

  test('a request that is repeated makes one child', async () => {
    const parent = await restingAgent();
    const key = randomUUID();
    const made = await Promise.all([1, 2, 3].map(() => daemon.client.fork(parent.id, {}, key)));
    expect(new Set(made.map(({ agent }) => agent.id)).size).toBe(1);
  });

  test('8.1: 50 forks of one agent at once are 50 children, each with one pair of notes', async () => {
    const parent = await restingAgent();
    const children = await Promise.all(Array.from({ length: 50 }, () => fork(parent.id)));
    expect(new Set(children.map((child) => child.id)).size).toBe(50);
    expect(new Set(children.map((child) => child.alias)).size).toBe(50);
    const { messages } = await daemon.client.history(parent.id);
    const told = messages.filter((message) => message.kind === 'fork' && message.agentId === parent.id);
    for (const child of children) expect(told.filter(({ data }) => data?.['childId'] === child.id)).toHaveLength(1);
    const { events } = await daemon.client.events({ tail: 1000 });
    for (const child of children) {
      expect(events.filter((event) => event.type === 'agent.forked' && event.agentId === child.id)).toHaveLength(1);
    }
    await daemon.client.killAgent(parent.id, { cascade: true });
  }, 60_000);
});

describe('the barrier', () => {
  test('S1-15, W1-05, W1-06, 8.3: a fork waits for a running tool and says so, a second one is refused, a kill waits', async () => {
    const gate = join(daemon.repository, '..', `gate-${randomUUID()}`);
    const parent = await daemon.work([
      { say: 'starting the tool' },
      { shell: `while [ ! -e '${gate}' ]; do sleep 0.02; done; echo passed` },
      'hang',
    ]);
    await outputHas(daemon.client, parent.id, 'while [');
    await expect(fork(parent.id, { wait: false })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('Bash'),
    });
    const waiting = fork(parent.id, { switch: false });
    await waitUntil(
      async () => {
        const { events } = await daemon.client.events({ agent: parent.id });
        return events.some((event) => event.type === 'agent.fork_waiting');
      },
      { what: 'the fork to wait' },
    );
    await expect(fork(parent.id)).rejects.toMatchObject({
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

  test('3.2.4: a fork waits for a half-written answer', async () => {
    const parent = await daemon.work([{ stream: { text: 'one two three four', for: '1s', pieces: 4 } }, 'hang']);
    await outputHas(daemon.client, parent.id, 'text_delta');
    await expect(fork(parent.id, { wait: false })).rejects.toMatchObject({ code: 'busy' });
    const child = await fork(parent.id, { switch: false });
    const { messages } = await daemon.client.history(child.id);
    expect(messages.filter((message) => message.inherited).at(-1)?.content).toBe('one two three four');
    await daemon.client.stopAgent(parent.id);
  });

  test('a fork whose requester has left is not made', async () => {
    const parent = await daemon.work([{ tool: { name: 'Slow', takes: '20s' } }]);
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
    // The kill would wait for ever if the fork still did.
    await daemon.client.killAgent(parent.id, {});
    expect((await daemon.client.listAgents({ all: true, limit: 1000 })).agents.length).toBe(before);
  });

  test('S1-31, W1-08, 3.2.5: an agent forks itself from a tool call, at the message before it, and goes on', async () => {
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
    // Nobody steals the person's view.
    expect((await daemon.client.desk()).current.id).not.toBe(child?.id);
  });
});

describe('who may', () => {
  test('S1-31: an agent forks itself only, with a prompt, and not when it is dead', async () => {
    const [one, other] = [await restingAgent(), await restingAgent()];
    const client = agentClient(daemon.home, one.id);
    await expect(client.fork(other.id, { prompt: 'x' }, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    await expect(client.fork('@current', {}, randomUUID())).rejects.toMatchObject({ code: 'invalid_input' });
    const { agent } = await client.fork('@current', { prompt: 'mine' }, randomUUID());
    expect(agent.parentId).toBe(one.id);
    await daemon.client.killAgent(one.id, {});
    await expect(fork(one.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(client.fork('@current', { prompt: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('S2-10, S2-13, S2-14, 7.2, 8.4: a main delegates to a subagent, which can make no agent through any door', async () => {
    daemon.define('lead', {
      kind: 'main',
      tools: ['*'],
      policy: { allow: ['Delegate'], delegate_targets: ['finder'] },
    });
    daemon.define('finder', { kind: 'subagent', tools: ['*'] });
    const body = { path: daemon.repository, provider: 'scripted' };
    await expect(daemon.work(undefined, { definition: 'finder' })).rejects.toMatchObject({ code: 'invalid_input' });
    const lead = await daemon.work(['hang'], { definition: 'lead' });
    await waitUntil(async () => (await daemon.client.inspectAgent(lead.id)).agent.activity === 'running', {
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
    await expect(fork(finder.id)).rejects.toMatchObject({ code: 'forbidden' });
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
    expect((await daemon.client.inspectAgent(finder.id)).agent.status).toBe('dead');
  });

  test('S2-16: an agent cannot raise itself by rewriting its definition, nor by writing another', async () => {
    daemon.define('meek', { kind: 'main', tools: ['Bash'], policy: ['Delegate'] });
    const meek = await daemon.work(['hang'], { definition: 'meek' });
    await waitUntil(async () => (await daemon.client.inspectAgent(meek.id)).agent.activity === 'running', {
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

  test('a key of a request counts for its caller, verb and target only', async () => {
    const [one, other] = [await restingAgent(), await restingAgent()];
    const key = randomUUID();
    const { agent: made } = await daemon.client.fork(one.id, { switch: false }, key);
    const { agent: again } = await daemon.client.fork(other.id, { switch: false }, key);
    expect([made.parentId, again.parentId]).toEqual([one.id, other.id]);
    const { agent: own } = await agentClient(daemon.home, one.id).fork('@current', { prompt: 'x' }, key);
    expect([made.id, again.id]).not.toContain(own.id);
    await daemon.client.resumeAgent(other.id, { prompt: 'on' }, key);
    expect((await daemon.client.inspectAgent(other.id)).runs).toHaveLength(2);
  });

  test('nobody takes a name that means somebody else', async () => {
    for (const alias of ['root', 'parent', 'next']) {
      await expect(daemon.work(['complete'], { alias })).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  test('S2-04, S2-17: without Delegate in its policy an agent may not delegate, and the gate says so', async () => {
    const worker = await restingAgent();
    const client = agentClient(daemon.home, worker.id);
    const body = { path: daemon.repository, task: 'x', provider: 'scripted' };
    await expect(client.work(body, randomUUID())).rejects.toMatchObject({ code: 'forbidden' });
    expect(await client.gate('@current', { action: 'Patch' })).toMatchObject({ allowed: true });
    expect(await client.gate('@current', { action: 'Delegate' })).toMatchObject({ allowed: false });
  });
});

describe('with files', () => {
  test('staged, unstaged and untracked files come along as they are, and the parent is untouched', async () => {
    const parent = await daemon.work([
      { write: { path: 'tracked.txt', content: 'one\n' } },
      { write: { path: 'both.txt', content: 'one\n' } },
      { write: { path: 'gone.txt', content: 'one\n' } },
      { commit: 'three files' },
      {
        shell:
          'echo staged > staged.txt; git add staged.txt; echo two >> both.txt; git add both.txt; echo three >> both.txt',
      },
      {
        shell:
          'echo two >> tracked.txt; rm gone.txt; mkdir -p deep/er; echo new > "deep/er/a file.txt"; git mv README.md READ',
      },
      {
        shell:
          'echo secret > ignored.env; echo "*.env" > .gitignore; echo ignored.env > .worktreeinclude; echo no > other.env',
      },
      'complete',
    ]);
    await daemon.ended(parent.id);
    const from = parent.worktree ?? '';
    chmodSync(join(from, 'staged.txt'), 0o755);
    symlinkSync('staged.txt', join(from, 'link'));
    unlinkSync(join(from, 'tracked.txt'));
    mkdirSync(join(from, 'tracked.txt'));
    writeFileSync(join(from, 'tracked.txt', 'inside'), 'a directory now\n');
    const before = await fingerprint(from);
    const child = await fork(parent.id, { withFiles: true, switch: false });
    expect(await fingerprint(from)).toEqual(before);
    const to = child.worktree ?? '';
    await worktreeMade(child.id);
    expect(await fingerprint(from)).toEqual(before);
    const status = ['status', '--porcelain=v1', '-uall'];
    expect(await git(to, status)).toBe(await git(from, status));
    expect(await git(to, status)).not.toBe('');
    expect(await git(to, ['ls-files', '-s'])).toBe(await git(from, ['ls-files', '-s']));
    expect(await git(to, ['diff'])).toBe(await git(from, ['diff']));
    expect(readFileSync(join(to, 'ignored.env'), 'utf8')).toBe('secret\n');
    expect(existsSync(join(to, 'other.env'))).toBe(false);
    expect(await git(to, ['rev-parse', 'HEAD'])).toBe(await git(from, ['rev-parse', 'HEAD']));
  });

  test('of an agent whose worktree is not there yet waits for it, and never takes somebody else’s files', async () => {
    writeFileSync(join(daemon.repository, 'mine.txt'), 'the person’s own\n');
    const parent = await daemon.work(['hang']);
    const child = await fork(parent.id, { withFiles: true, switch: false });
    await worktreeMade(child.id);
    expect(existsSync(join(child.worktree ?? '', 'mine.txt'))).toBe(false);
    expect(await git(child.worktree ?? '', ['status', '--porcelain'])).toBe('');
    unlinkSync(join(daemon.repository, 'mine.txt'));
    await daemon.client.stopAgent(parent.id);
  });

  test('of agent 0 carries the person’s own uncommitted files, and leaves them alone', async () => {
    writeFileSync(join(daemon.repository, 'draft.txt'), 'a draft\n');
    const before = await fingerprint(daemon.repository);
    const child = await fork('root', { path: daemon.repository, withFiles: true, switch: false });
    await worktreeMade(child.id);
    expect(await fingerprint(daemon.repository)).toEqual(before);
    const status = await git(child.worktree ?? '', ['status', '--porcelain']);
    expect(status).toContain('?? draft.txt');
    expect(status).toBe(await git(daemon.repository, ['status', '--porcelain']));
    unlinkSync(join(daemon.repository, 'draft.txt'));
  });
});

async function worktreeMade(agentId: string): Promise<void> {
  const made = async () => {
    const { events } = await daemon.client.events({ agent: agentId });
    return events.some((event) => event.type === 'worktree.created');
  };
  await waitUntil(made, { what: 'the worktree' });
}

/** The index byte for byte, the stash, and every file with its time. */
async function fingerprint(worktree: string) {
  const index = await git(worktree, ['rev-parse', '--path-format=absolute', '--git-path', 'index']);
  const files = (await git(worktree, ['ls-files', '-co', '--exclude-standard'])).split('\n');
  return {
    index: readFileSync(index).toString('base64'),
    indexTime: statSync(index).mtimeMs,
    stash: await git(worktree, ['stash', 'list']),
    files: files.map((file) => {
      const found = statSync(join(worktree, file), { throwIfNoEntry: false });
      return [file, found?.mtimeMs, found?.mode, found?.size];
    }),
  };
}
