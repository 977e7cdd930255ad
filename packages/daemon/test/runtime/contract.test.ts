import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import type { PlainClient, PlainEvent } from './plain-client.ts';
import { plainClient } from './plain-client.ts';

/** Written from the text of the S2 rows alone: the requests and answers below know no type of Pawl. */
let daemon: TestDaemon;
let client: PlainClient;
let root: string;
beforeAll(async () => {
  // The scripted agent has no modes, so the model's name tells the mode.
  const moody = { extends: 'scripted', options: { mode: ['--model', 'mode-{value}'] } };
  daemon = await startTestDaemon({ providers: { moody } });
  daemon.define('chief', { kind: 'main', tools: ['*'], provider: 'scripted', policy: ['Delegate'] });
  daemon.define('finder', { kind: 'subagent', tools: ['*'], provider: 'scripted' });
  client = plainClient(daemon);
  root = encodeURIComponent(daemon.repository);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const isIdle = (agentId: string) => (events: PlainEvent[]) =>
  events.some((event) => event['agent_id'] === agentId && event['status'] === 'idle') &&
  events.at(-1)?.type === 'StateUpdated';

async function running(agent: AgentView): Promise<AgentView> {
  await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'running', { what: 'it to run' });
  return agent;
}

/** An agent that has answered once, and says the prompt of each further turn. */
async function idle(): Promise<AgentView> {
  const agent = await daemon.work([{ say: 'ready' }, 'complete', 'echo_prompt', 'complete', 'echo_prompt', 'complete']);
  return daemon.ended(agent.id);
}

/** A lead at work, with a subagent that works until it is ended. */
async function family() {
  const lead = await running(await daemon.work(['hang'], { definition: 'chief' }));
  const options = { scenario: await daemon.scenario(['hang']) };
  const delegate = async () =>
    (await agentClient(daemon.home, lead.id).delegate({ target: 'finder', task: 'find it', options }, randomUUID()))
      .run;
  return { lead, child: await delegate(), delegate };
}

test('POST /api/chat begins a run of an idle agent, and its answer is an event [S2-26]', async () => {
  const agent = await idle();
  const stream = await client.open(`&agent=${agent.id}`);
  const { status, body } = await client.post('/api/chat', { agent_id: agent.alias, message: 'how are you?' });
  expect([status, body.status, body.agent_id, body.session_id]).toEqual([200, 'started', agent.id, 'default']);
  const events = await stream.until(isIdle(agent.id));
  const messages = events.filter(({ type }) => type === 'Message');
  expect(messages[0]).toMatchObject({ from: 'user', to: agent.id, content: 'how are you?' });
  expect(messages.at(-1)).toMatchObject({
    from: agent.id,
    to: 'user',
    content: expect.stringContaining('how are you?'),
  });
  expect((await client.get(`/api/agent-runs?project_root=${root}`)).body.runs[0]).toMatchObject({
    run_id: body.run_id,
    status: 'completed',
  });
});

test('a repeated chat request begins one run', async () => {
  const agent = await idle();
  const key = randomUUID();
  const body = { agent_id: agent.id, message: 'once' };
  const first = await daemon.client.chat(body, key);
  expect((await daemon.client.chat(body, key)).run_id).toBe(first.run_id);
  await daemon.ended(agent.id);
  expect((await daemon.client.chat(body, key)).run_id).toBe(first.run_id);
  const { runs } = await daemon.client.inspectAgent(agent.id, { worktree: false });
  expect(runs).toHaveLength(2);
});

test('GET /api/agent-runs lists records of a project and a chat thread [S2-22]', async () => {
  const agent = await daemon.work([{ say: 'x' }, 'complete'], { sessionId: 'thread-a' });
  await daemon.ended(agent.id);
  const { body } = await client.get(`/api/agent-runs?project_root=${root}&session_id=thread-a`);
  expect(body.runs).toEqual([
    {
      run_id: agent.run?.id,
      repo_path: daemon.repository,
      session_id: 'thread-a',
      agent_id: agent.id,
      agent: agent.alias,
      agent_kind: 'main',
      parent_run_id: null,
      status: 'completed',
      detail: 'x',
      started_at: expect.any(Number),
      ended_at: expect.any(Number),
    },
  ]);
  expect((await client.get(`/api/agent-runs?project_root=%2Fnowhere`)).status).toBeGreaterThanOrEqual(400);
});

test('GET /api/agent-children lists the runs that a run began, and their end is an event [S2-23] [S2-11]', async () => {
  const stream = await client.open();
  const { lead, child } = await family();
  const { body } = await client.get(`/api/agent-children?run_id=${lead.run?.id}`);
  expect(body.runs).toMatchObject([{ run_id: child.id, agent_kind: 'subagent', parent_run_id: lead.run?.id }]);
  await daemon.client.stopAgent(child.agentId);
  const events = await stream.until((seen) => seen.at(-1)?.type === 'SubagentResult');
  const both = { parent_id: lead.id, subagent_id: child.agentId };
  expect(events).toContainEqual(expect.objectContaining({ type: 'SubagentSpawned', ...both, task: 'find it' }));
  expect(events.at(-1)).toMatchObject({ type: 'SubagentResult', ...both, outcome: { type: 'none' } });
  await daemon.client.stopAgent(lead.id);
});

test('GET /api/agent-context counts, and has the messages with view=raw [S2-24] [S2-36] [W2-19] [4.2.7]', async () => {
  const agent = await daemon.work([
    { shell: 'false' },
    { say: 'said \u001B[31mthis' },
    'complete',
    { say: 'later' },
    'complete',
  ]);
  const { run } = await daemon.ended(agent.id);
  await daemon.client.resumeAgent(agent.id, { prompt: 'another run' }, randomUUID());
  await daemon.ended(agent.id);
  const summary = await client.get(`/api/agent-context?run_id=${run?.id}`);
  expect(summary.body).toMatchObject({
    run: { run_id: run?.id },
    summary: { user_messages: 1, agent_messages: 1, tool_calls: 1, system_messages: 0 },
    tools: [{ name: 'Bash', calls: 1, failed: 1 }],
    artifacts: [],
    children: [],
  });
  expect(summary.body.messages).toBeUndefined();
  const raw = await client.get(`/api/agent-context?run_id=${run?.id}&view=raw`);
  expect(raw.body.messages.map(({ kind, content }: { kind: string; content: string }) => [kind, content])).toEqual([
    ['user', 'a task'],
    ['tool_call', expect.stringContaining('Bash')],
    ['tool_result', expect.any(String)],
    ['assistant', 'said [31mthis'],
  ]);
  const page = await client.get(`/api/agent-context?run_id=${run?.id}&view=raw&limit=1`);
  expect([page.body.messages.length, page.body.more]).toEqual([1, true]);
});

test('POST /api/agent-cancel cancels the tree below a run once; a sibling goes on [S2-25] [W2-11] [W2-10]', async () => {
  const { lead, child, delegate } = await family();
  const sibling = await delegate();
  const stream = await client.open();
  const one = await client.post('/api/agent-cancel', { run_id: child.id });
  expect(one.body).toEqual({ cancelled_run_ids: [child.id] });
  const events = await stream.until(isIdle(child.agentId));
  const idleAt = events.findIndex((event) => event['agent_id'] === child.agentId && event['status'] === 'idle');
  expect(events[idleAt]).toMatchObject({ detail: 'Cancelled' });
  const [report, state] = events.slice(idleAt);
  expect(state?.type).toBe('StateUpdated');
  // Both follow the same event of the log, in this order.
  expect(Math.floor((state?.seq ?? 0) / 1e7)).toBe(Math.floor((report?.seq ?? 1) / 1e7));
  const all = await client.post('/api/agent-cancel', { run_id: lead.run?.id });
  expect(new Set(all.body.cancelled_run_ids)).toEqual(new Set([lead.run?.id, sibling.id]));
  expect((await client.post('/api/agent-cancel', { run_id: lead.run?.id })).body).toEqual({ cancelled_run_ids: [] });
  const { body } = await client.get(`/api/agent-context?run_id=${lead.run?.id}`);
  expect(body.run).toMatchObject({ status: 'cancelled', detail: 'cancelled by user' });
});

test('a run, an agent or a project that does not exist is 404 [W2-19]', async () => {
  const none = '1234567890123456789012';
  for (const path of [`agent-children?run_id=${none}`, `agent-context?run_id=${none}`])
    expect((await client.get(`/api/${path}`)).status).toBe(404);
  expect((await client.post('/api/agent-cancel', { run_id: none })).status).toBe(404);
  expect((await client.post('/api/chat', { agent_id: 'nobody-here', message: 'hello' })).status).toBe(404);
});

test('a subagent that is spoken to directly is 400, by its name or its definition [W2-08]', async () => {
  const { lead, child } = await family();
  const agent = await viewOf(daemon.client, child.agentId);
  for (const agent_id of [agent.alias, agent.id, 'finder']) {
    const { status, body } = await client.post('/api/chat', {
      agent_id,
      project_root: daemon.repository,
      message: 'hi',
    });
    expect([agent_id, status]).toEqual([agent_id, 400]);
    expect(body.error.message).toContain('subagent');
  }
  await client.post('/api/agent-cancel', { run_id: lead.run?.id });
});

test('a message to a busy agent waits in its queue, and is a message once, when it is delivered [W2-16]', async () => {
  const gate = join(dirname(daemon.repository), 'let-it-go');
  const agent = await running(
    await daemon.work([
      { shell: `while [ ! -e '${gate}' ]; do sleep 0.1; done` },
      'complete',
      'echo_prompt',
      'complete',
    ]),
  );
  const stream = await client.open(`&agent=${agent.id}`);
  const words = `one more thing ${'x'.repeat(200)}`;
  const { body } = await client.post('/api/chat', { agent_id: agent.id, message: words });
  expect(body).toMatchObject({ status: 'queued', run_id: agent.run?.id });
  expect(body.queue).toMatchObject([{ agent_id: agent.id, session_id: 'default', timestamp: expect.any(Number) }]);
  expect(body.queue[0].preview).toHaveLength(100);
  writeFileSync(gate, '');
  const events = await stream.until((seen) =>
    seen.some(({ type, content }) => type === 'Message' && content === words),
  );
  const queues = events.filter(({ type }) => type === 'QueueUpdated').map(({ items }) => (items as unknown[]).length);
  expect(queues[0]).toBe(1);
  const state = async () =>
    (await client.get(`/api/workspace/state?project_root=${root}`)).body.agents.find(
      (each: { agent_id: string }) => each.agent_id === agent.id,
    );
  await waitUntil(async () => (await state()).queue.length === 0, { what: 'the queue to be empty' });
  await daemon.client.stopAgent(agent.id);
});

test('/mode changes the mode of the project, @agent routes if there is one [W2-17] [S2-26]', async () => {
  const settings = () => client.get(`/api/settings?project_root=${root}`);
  expect((await settings()).body).toEqual({ project_root: daemon.repository, mode: 'auto', chosen: false });
  const stream = await client.open();
  const say = (message: string, agent_id?: string) =>
    client.post('/api/chat', { project_root: daemon.repository, message, ...(agent_id && { agent_id }) });
  expect((await say('/mode chat')).body).toMatchObject({ status: 'mode', mode: 'chat' });
  expect((await settings()).body).toMatchObject({ mode: 'chat', chosen: true });
  const [event] = await stream.until((seen) => seen.at(-1)?.type === 'SettingsUpdated');
  expect(event).toMatchObject({ type: 'SettingsUpdated', project_root: daemon.repository, mode: 'chat' });
  expect((await say('/mode loud')).status).toBe(400);
  expect((await client.post('/api/settings', { project_root: daemon.repository, mode: 'auto' })).body.mode).toBe(
    'auto',
  );
  const [one, other] = [await idle(), await idle()];
  expect((await say(`@${other.alias} hello`, one.id)).body.agent_id).toBe(other.id);
  expect((await say('@nobody-there hello', one.id)).body.agent_id).toBe(one.id);
  await Promise.all([daemon.ended(one.id), daemon.ended(other.id)]);
  const { messages } = await daemon.client.history(one.id);
  expect(messages.map(({ content }) => content)).toContain('@nobody-there hello');
  expect((await daemon.client.history(other.id)).messages.map(({ content }) => content)).toContain('hello');
});

test('chat with a definition starts its agent once [S2-05]', async () => {
  const body = { project_root: daemon.repository, agent_id: 'chief', message: 'hello', session_id: 'by-definition' };
  const first = (await client.post('/api/chat', body)).body;
  expect(first).toMatchObject({ status: 'started', session_id: 'by-definition' });
  await daemon.ended(first.agent_id);
  const second = (await client.post('/api/chat', { ...body, message: 'again' })).body;
  expect(second.agent_id).toBe(first.agent_id);
  expect(second.run_id).not.toBe(first.run_id);
  await daemon.ended(first.agent_id);
});

test('GET /api/workspace/tree has the files that running agents change [S2-26] [W2-20]', async () => {
  const steps = [{ write: { path: 'src/deep/new.txt', content: 'x' } }, { say: 'written' }, 'hang'];
  const agent = await daemon.work(steps);
  const tree = async () => (await client.get(`/api/workspace/tree?project_root=${root}`)).body.tree.sample;
  await waitUntil(async () => (await tree()).children.src !== undefined, { what: 'the file in the tree' });
  // Git names a new directory as a whole.
  expect(await tree()).toMatchObject({ type: 'dir', children: { src: { agent: agent.alias, status: 'working' } } });
  await daemon.client.stopAgent(agent.id);
  expect((await tree()).children).toEqual({});
});

test('the contract is in the list of routes [S2-26]', async () => {
  const { body } = await client.get('/api/openapi.json');
  const paths = ['agent-runs', 'agent-children', 'agent-context', 'agent-cancel', 'chat', 'events', 'settings'];
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining([...paths, 'workspace/tree'].map((path) => `/api/${path}`)),
  );
});

test('the mode of a project reaches mains of providers that have modes, unless they have their own [W2-17]', async () => {
  await client.post('/api/settings', { project_root: daemon.repository, mode: 'chat' });
  const argvOf = async (body: object) => {
    const agent = await daemon.work(undefined, { provider: 'moody', ...body });
    await waitUntil(async () => ((await viewOf(daemon.client, agent.id)).session?.pid ?? null) !== null, {
      what: 'a session',
    });
    const { sessions } = await daemon.client.inspectAgent(agent.id, { worktree: false });
    await daemon.client.stopAgent(agent.id);
    return sessions[0]?.argv.join(' ');
  };
  expect(await argvOf({})).toContain('--model mode-chat');
  expect(await argvOf({ options: { mode: 'auto' } })).toContain('--model mode-auto');
  daemon.define('steady', { kind: 'main', tools: ['*'], mode: 'auto' });
  expect(await argvOf({ definition: 'steady' })).toContain('--model mode-auto');
});

test('any path inside a project names it, and others are not served [W2-28] [W2-29]', async () => {
  const inside = encodeURIComponent(join(daemon.repository, '.pawl', 'agents'));
  expect((await client.get(`/api/settings?project_root=${inside}`)).body.project_root).toBe(daemon.repository);
  const outside = encodeURIComponent(dirname(daemon.repository));
  for (const path of ['agent-runs', 'settings', 'workspace/tree', 'workspace/state', 'events'])
    for (const root of [outside, '%2F', '%2Fetc', 'relative']) {
      const view = path === 'events' ? 'view=runtime&' : '';
      const { status } = await client.get(`/api/${path}?${view}project_root=${root}`);
      expect([path, root, status]).toEqual([
        path,
        root,
        expect.toSatisfy((code: number) => code === 400 || code === 404),
      ]);
    }
});
