import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

async function resume(id: string, prompt: string) {
  await daemon.client.resumeAgent(id, { prompt }, randomUUID());
  return daemon.ended(id);
}

test('an agent’s prompts, messages and actions become its history, in order, with kinds [S1-05, W1-17]', async () => {
  const agent = await daemon.work([
    { say: 'first words' },
    { shell: 'echo from the tool' },
    { complete: { summary: 'all done' } },
  ]);
  await daemon.ended(agent.id);
  const { messages, inherited, own } = await daemon.client.history(agent.id);
  expect(messages.map(({ kind }) => kind)).toEqual([
    'fork',
    'user',
    'assistant',
    'tool_call',
    'tool_result',
    'assistant',
  ]);
  expect(inherited).toBe(0);
  expect(own).toBe(messages.length);
  const [, user, said, call, result] = messages;
  expect([user?.content, said?.content]).toEqual(['a task', 'first words']);
  expect(call?.data?.['toolId']).toBe(result?.data?.['toolId']);
  expect(result?.content).toContain('from the tool');
  // 4.2.7: each belongs to its run and session.
  expect(said).toMatchObject({ runId: agent.run?.id, sessionId: expect.any(String) });
});

test('the pages of a history add up to the whole', async () => {
  const agent = await daemon.work([
    ...Array.from({ length: 25 }, (_, number) => ({ say: `line ${number}` })),
    'complete',
  ]);
  await daemon.ended(agent.id);
  const whole = (await daemon.client.history(agent.id)).messages;
  const paged: typeof whole = [];
  for (let more = true; more;) {
    const page = await daemon.client.history(agent.id, { after: paged.at(-1)?.id ?? 0, limit: 7 });
    paged.push(...page.messages);
    ({ more } = page);
  }
  expect(paged).toEqual(whole);
  expect(whole.length).toBeGreaterThan(25);
});

test('after a clear nothing earlier is remembered, by the agent, its provider, or its later children [W1-16, 3.2.2]', async () => {
  const agent = await daemon.work([{ say: 'before' }, 'complete', 'recall', 'complete', 'recall', 'complete']);
  await daemon.ended(agent.id);
  const early = (await daemon.client.fork(agent.id, { switch: false }, randomUUID())).agent;
  await daemon.client.note(agent.id, 'clear', {});
  const late = (await daemon.client.fork(agent.id, { switch: false }, randomUUID())).agent;
  const contents = async (id: string) => (await daemon.client.history(id)).messages.map(({ content }) => content);
  expect(await contents(early.id)).toContain('before');
  expect(await contents(late.id)).not.toContain('before');
  expect(await contents(agent.id)).not.toContain('before');
  await resume(agent.id, 'a new beginning');
  expect((await daemon.client.inspectAgent(agent.id)).sessions.at(-1)?.conversation).toBe('new');
});

test.each(['mail', 'question'] as const)(
  'after a clear, a %s wakes the agent with a new conversation',
  async (what) => {
    const agent = await daemon.work([{ say: 'xylophone' }, 'complete']);
    await daemon.ended(agent.id);
    await daemon.client.note(agent.id, 'clear', {});
    if (what === 'mail') await daemon.client.sendMail({ to: agent.id, body: 'are you there?' }, randomUUID());
    else await daemon.client.ask({ agent: agent.id, question: 'are you there?' }, randomUUID());
    const second = await waitUntil(async () => (await daemon.client.inspectAgent(agent.id)).sessions[1], {
      what: 'the session that it began',
    });
    await daemon.ended(agent.id);
    expect(second).toMatchObject({ no: 2, conversation: 'new' });
    const prompt = await daemon.promptOf(second.directory);
    expect(prompt).toContain('are you there?');
    expect(prompt).not.toContain('xylophone');
  },
);

test('a history with --all includes cleared and rewound messages, marked, also for a child [W1-16]', async () => {
  const agent = await daemon.work(['complete'], { task: 'cleared words' });
  await daemon.ended(agent.id);
  await daemon.client.note(agent.id, 'clear', {});
  await daemon.client.note(agent.id, 'mark', { label: 'here' });
  await resume(agent.id, 'a wrong turn');
  await daemon.client.note(agent.id, 'rewind', { label: 'here' });
  const forgotten = async (id: string, word: string) =>
    (await daemon.client.history(id, { all: true })).messages.find(({ content }) => content === word)?.forgotten;
  expect(await forgotten(agent.id, 'cleared words')).toBe('cleared');
  expect(await forgotten(agent.id, 'a wrong turn')).toBe('rewound');
  expect(await forgotten(agent.id, 'here')).toBeNull();
  const child = (await daemon.client.fork(agent.id, { switch: false }, randomUUID())).agent;
  expect(await forgotten(child.id, 'cleared words')).toBe('cleared');
  const shown = (await daemon.client.history(agent.id)).messages;
  expect(shown.map(({ content }) => content)).not.toContain('cleared words');
});

test('mark and rewind: messages after the mark stay on record and are not remembered', async () => {
  const agent = await daemon.work([{ say: 'kept' }, 'complete', { say: 'to be forgotten' }, 'complete']);
  await daemon.ended(agent.id);
  await daemon.client.note(agent.id, 'mark', { label: 'here' });
  await resume(agent.id, 'a wrong turn');
  await expect(daemon.client.note(agent.id, 'rewind', { label: 'nowhere' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await daemon.client.note(agent.id, 'rewind', { label: 'here' });
  const { messages } = await daemon.client.history(agent.id);
  expect(messages.map(({ kind }) => kind)).toContain('rewind');
  expect(messages.map(({ content }) => content)).toContain('to be forgotten');
  const { agent: after } = await daemon.client.resumeAgent(agent.id, { prompt: 'the right turn' }, randomUUID());
  await outputHas(daemon.client, after.id, 'the right turn').catch(() => undefined);
  await daemon.ended(agent.id);
  const session = (await daemon.client.inspectAgent(agent.id)).sessions.at(-1);
  expect(session?.conversation).toBe('replay');
  const prompt = await daemon.promptOf(session?.directory ?? '');
  expect(prompt).toContain('kept');
  expect(prompt).not.toContain('to be forgotten');
  expect(prompt).not.toContain('a wrong turn');
  expect(prompt).toContain('the right turn');
});

test('a history is not cut while its agent works, and the agent may set a mark itself', async () => {
  const agent = await daemon.work([{ pawl: ['mark', '{id}', 'by myself'] }, { say: 'standing by' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'standing by');
  for (const verb of ['clear', 'rewind'] as const) {
    await expect(daemon.client.note(agent.id, verb, {})).rejects.toMatchObject({ code: 'busy' });
  }
  const marks = (await daemon.client.history(agent.id)).messages.filter(({ kind }) => kind === 'mark');
  expect(marks.map(({ content }) => content)).toEqual(['by myself']);
  await daemon.client.killAgent(agent.id, {});
  await expect(daemon.client.note(agent.id, 'mark', {})).rejects.toMatchObject({ code: 'conflict' });
  expect(await outputText(daemon.client, agent.id)).toContain('standing by');
});
