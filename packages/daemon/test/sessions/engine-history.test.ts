import type { ResumeBody } from '@pawl/protocol/agents/verb-view';
import type { ModelServer } from '@pawl/testing/model-server/server';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

const done = { signal: { status: 'done', result: 'All done.' } };
const steps = [
  { say: 'I look. [[mark:said]]' },
  { shell: 'echo "[[mark:out""put]]" # [[mark:input]]' },
  done,
  { say: 'Done. [[mark:end]]' },
];
/** What a model is shown of one run: the task, then the answers and results in order. */
const work = ['said', 'input', 'output', 'end'];

let daemon: TestDaemon;
let model: ModelServer;
beforeAll(async () => {
  const followUp = [done, { say: 'Done. [[mark:again]]' }];
  model = await startModelServer({ scenarios: { word: { steps, followUp } }, fallback: 'word' });
  daemon = await startTestDaemon();
  const account = { provider: 'pawl', kind: 'api-key', secret: 'sk-engine-0123456789' } as const;
  await daemon.client.addAccount({ ...account, name: 'plain', baseUrl: `${model.url}/v1` });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await model.close();
});

const onEngine = { provider: 'pawl', account: 'plain', model: 'anthropic/claude-sonnet-4-5' };

async function begin(task = 'Remember [[mark:heron]].') {
  const agent = await daemon.work(undefined, { ...onEngine, task });
  await daemon.ended(agent.id);
  return agent;
}

const resume = (id: string, prompt: string) => handOver(id, { prompt });

async function handOver(id: string, body: ResumeBody) {
  const before = (await daemon.client.inspectAgent(id)).sessions.length;
  await daemon.client.resumeAgent(id, body, randomUUID());
  await waitUntil(async () => (await daemon.client.inspectAgent(id)).sessions.length > before, { what: 'a session' });
  return daemon.ended(id);
}

/** The marks in the first request since, in order, each once. */
const shown = (since: number) => [...new Set(model.requests[since]?.marks)];
const conversationOf = async (id: string) => (await daemon.client.inspectAgent(id)).sessions.at(-1)?.conversation;

test('a resumed agent and its fork are shown everything that was said and done [7.20]', async () => {
  const agent = await begin();
  let since = model.requests.length;
  await resume(agent.id, 'And now? [[mark:now]]');
  expect(shown(since)).toEqual(['heron', ...work, 'now']);
  expect(await conversationOf(agent.id)).toBe('resume');

  since = model.requests.length;
  const child = await daemon.fork(agent.id, { prompt: 'You now. [[mark:child]]' });
  await daemon.ended(child.id);
  expect(shown(since)).toEqual(['heron', ...work, 'now', 'again', 'child']);
  expect(await conversationOf(child.id)).toBe('fork');
  expect(model.requests[since]?.path).toBe(model.requests[0]?.path);
});

test('a fork sees nothing that its parent said since, and costs no answer [7.20]', async () => {
  const agent = await begin();
  const child = await daemon.fork(agent.id);
  await resume(agent.id, 'Later. [[mark:later]]');
  const since = model.requests.length;
  await resume(child.id, 'You now. [[mark:child]]');
  expect(shown(since)).toEqual(['heron', ...work, 'child']);
});

test('a clear, a mark and a rewind count in the next turn [W1-16]', async () => {
  const agent = await begin();
  await daemon.client.note(agent.id, 'mark', { label: 'here' });
  await resume(agent.id, 'A wrong way. [[mark:wrong]]');
  await daemon.client.note(agent.id, 'rewind', { label: 'here' });
  let since = model.requests.length;
  await resume(agent.id, 'The right way. [[mark:right]]');
  expect(shown(since)).toEqual(['heron', ...work, 'right']);

  await daemon.client.note(agent.id, 'clear', {});
  since = model.requests.length;
  await resume(agent.id, 'Anew. [[mark:anew]]');
  expect(shown(since)).toEqual(['anew']);
  expect(await conversationOf(agent.id)).toBe('new');
});

const vendors = [
  ['openai/gpt-5.1', 'responses'],
  ['openai-chat/gpt-4.1', 'chat'],
  ['google/gemini-2.5-pro', 'gemini'],
  ['compatible/scripted-1', 'chat'],
  ['anthropic/claude-sonnet-4-5', 'anthropic'],
] as const;

test('a conversation begun with Anthropic is forked and goes on with every other vendor, and back [7.20]', async () => {
  const agent = await begin();
  const said = ['heron', ...work];
  const forks = vendors.map(([name]) => daemon.fork(agent.id, { model: name, prompt: 'You now. [[mark:fork]]' }));
  for (const fork of await Promise.all(forks)) await daemon.ended(fork.id);
  for (const [name, api] of vendors) {
    const first = model.requests.find((each) => name.endsWith(each.model) && each.marks.includes('fork'));
    expect(first, name).toMatchObject({ api, userTurns: 2 });
    expect([...new Set(first?.marks)], name).toEqual(['heron', ...work, 'fork']);
  }
  for (const [index, [name, api]] of vendors.entries()) {
    const since = model.requests.length;
    await handOver(agent.id, { model: name, prompt: `And now? [[mark:turn-${index}]]` });
    said.push(...(index === 1 ? ['again'] : []), `turn-${index}`);
    expect(model.requests[since], name).toMatchObject({ api, model: name.split('/')[1], userTurns: index + 2 });
    expect(shown(since), name).toEqual(said);
  }
  expect((await daemon.client.inspectAgent(agent.id)).agent.model).toBe('anthropic/claude-sonnet-4-5');
});

test('an agent of another provider goes on with the engine, and back [7.20]', async () => {
  const other = await daemon.work(
    [{ say: 'Hello. [[mark:hello]]' }, { shell: 'echo "[[mark:tool]]"' }, 'complete', 'recall', 'complete'],
    {
      task: 'Remember [[mark:owl]].',
    },
  );
  await daemon.ended(other.id);
  let since = model.requests.length;
  const runner = { provider: 'pawl', account: 'plain', model: 'openai/gpt-5.1' };
  await handOver(other.id, { ...runner, prompt: 'And now? [[mark:now]]' });
  expect(shown(since)).toEqual(['owl', 'hello', 'tool', 'now']);
  expect(await conversationOf(other.id)).toBe('resume');

  since = model.requests.length;
  await handOver(other.id, { provider: 'scripted', prompt: 'Back.' });
  expect(model.requests).toHaveLength(since);
  expect(await conversationOf(other.id)).toBe('replay');
});

test('a change to a model or provider that does not fit is refused, and changes nothing', async () => {
  const agent = await begin();
  const ask = (body: object) => daemon.client.resumeAgent(agent.id, { prompt: 'x', ...body }, randomUUID());
  await expect(ask({ provider: 'nobody' })).rejects.toThrow('nobody');
  await expect(ask({ model: '--resume' })).rejects.toThrow('neither a model nor an option');
  await expect(ask({ account: 'nobody' })).rejects.toThrow('nobody');
  expect((await daemon.client.inspectAgent(agent.id)).agent).toMatchObject({ provider: 'pawl', model: onEngine.model });
});

test('a full context is summarised: the history goes on from there, and --all has the rest', async () => {
  const long = [
    { usage: { input: 900, output: 1 } },
    { shell: 'echo "[[mark:out""put]]"' },
    { usage: { input: 10, output: 1 } },
    done,
    { say: 'Done.' },
  ];
  const followUp = [done, { say: 'Done.' }];
  await using server = await startModelServer({ scenarios: { long: { steps: long, followUp } }, fallback: 'long' });
  const account = { provider: 'pawl', kind: 'api-key', secret: 'sk-engine-5555555555' } as const;
  await daemon.client.addAccount({ ...account, name: 'long', baseUrl: server.url });
  const task = 'Work. [[mark:task]]';
  const options = { 'context-tokens': '1000' };
  const agent = await daemon.work(undefined, { ...onEngine, account: 'long', task, options });
  await daemon.ended(agent.id);
  const kindsOf = async (all: boolean) => (await daemon.client.history(agent.id, { all })).messages;
  const [first, ...others] = await kindsOf(false);
  expect(first).toMatchObject({
    kind: 'summary',
    content: expect.stringContaining('A short scripted answer') as string,
  });
  const whole = await kindsOf(true);
  expect(whole.slice(-1 - others.length)).toMatchObject([first, ...others]);
  const before = whole.slice(0, -1 - others.length);
  expect(before.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['user', 'tool_call', 'tool_result']));
  expect(new Set(before.map(({ forgotten }) => forgotten))).toEqual(new Set(['summarised']));

  const since = server.requests.length;
  const child = await daemon.fork(agent.id, { prompt: 'You now. [[mark:child]]' });
  await daemon.ended(child.id);
  expect(new Set(server.requests[since]?.marks)).toEqual(new Set(['child']));
  expect(server.requests[since]?.userTurns).toBe(2);
});

test('an image that was read is shown again to a fork', async () => {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
  const look = [
    { shell: `echo ${dot} | base64 -d > dot.png` },
    { tool: { name: 'Read', input: { path: 'dot.png' } } },
    { shell: 'rm dot.png' },
    done,
    { say: 'Seen.' },
  ];
  await using server = await startModelServer({
    scenarios: { look: { steps: look, followUp: [done, { say: 'A dot.' }] } },
    fallback: 'look',
  });
  const account = { provider: 'pawl', kind: 'api-key', secret: 'sk-engine-9876543210' } as const;
  await daemon.client.addAccount({ ...account, name: 'look', baseUrl: server.url });
  const agent = await daemon.work(undefined, { ...onEngine, account: 'look' });
  await daemon.ended(agent.id);
  const child = await daemon.fork(agent.id, { prompt: 'What did you see?' });
  await daemon.ended(child.id);
  const { sessions } = await daemon.client.inspectAgent(child.id);
  const lines = await readFile(join(daemon.home.sessions, sessions[0]?.id ?? '', 'conversation.jsonl'), 'utf8');
  expect(lines).toContain(`"base64":"${dot}"`);
});
