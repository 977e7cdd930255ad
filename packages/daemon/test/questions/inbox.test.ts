import type { AgentView } from '@pawl/protocol/agents/view';
import type { InboxItem } from '@pawl/protocol/questions/view';
import { approvalText } from '@pawl/schema/approval/approval-text';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { askAs, atWork, endOf } from './asking.ts';

let now = Date.now();
let daemon: TestDaemon;
let asker: AgentView;
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => now, timing: { routeMs: 50 } });
  asker = await atWork(daemon);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const asksPerson = [
  { signal: { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } },
  'wait',
];
const more = ['echo_prompt', { complete: { summary: 'thanks' } }];

async function inboxOf(agent: AgentView): Promise<InboxItem[]> {
  return (await daemon.client.inbox()).items.filter((item) => item.agent.id === agent.id);
}

async function whenInInbox(agent: AgentView): Promise<InboxItem> {
  return waitUntil(async () => (await inboxOf(agent))[0], { what: 'it in the inbox' });
}

/** The prompt with which an agent's run continued. */
async function lastPrompt(agentId: string): Promise<string> {
  const { sessions } = await daemon.client.inspectAgent(agentId);
  return daemon.promptOf(sessions.at(-1)?.directory ?? '');
}

describe('the inbox', () => {
  test('lists everything that waits for the person, oldest first', async () => {
    const run = await daemon.ended((await daemon.work([...asksPerson, ...more])).id);
    now += 1;
    const question = await askAs(daemon, asker, { person: true, question: 'May I rename it?' });
    now += 1;
    const permission = agentClient(daemon.home, asker.id).askPermission(
      { tool: 'Bash', input: { command: 'make' } },
      randomUUID(),
    );
    await waitUntil(async () => (await inboxOf(asker)).length === 2, { what: 'both in the inbox' });
    const { items } = await daemon.client.inbox();
    expect(items.map(({ kind, agent }) => [kind, agent.id])).toEqual([
      ['questions', run.id],
      ['question', asker.id],
      ['permission', asker.id],
    ]);
    expect(items[0]).toMatchObject({
      id: run.id,
      deadlineAt: null,
      questions: [{ id: 'db', question: 'Which database?' }],
    });
    expect(items[1]).toMatchObject({ id: question.conversationId, deadlineAt: null });
    expect(items[2]).toMatchObject({ deadlineAt: now + limits.questionMs });
    expect(items[2]?.questions[0]?.question).toContain('make');

    await daemon.client.replyAgent(run.alias, { answer: 'SQLite' }, randomUUID());
    await daemon.client.replyAgent(question.conversationId.slice(0, 10), { answer: 'yes, do' }, randomUUID());
    await daemon.client.replyAgent(items[2]?.id ?? '', { allow: true }, randomUUID());
    expect(await permission).toMatchObject({ behavior: 'allow' });
    expect((await daemon.client.showQuestion(question.conversationId)).question).toMatchObject({ answer: 'yes, do' });
    expect(await daemon.ended(run.id)).toMatchObject({ run: { detail: 'thanks' } });
    expect((await daemon.client.inbox()).items).toEqual([]);
  });

  test('an agent’s only question can be answered by its name; several need their ids', async () => {
    const first = await askAs(daemon, asker, { person: true, question: 'one?' });
    const second = await askAs(daemon, asker, { person: true, question: 'two?' });
    const ambiguous = daemon.client.replyAgent(asker.alias, { answer: 'yes' }, randomUUID());
    await expect(ambiguous).rejects.toMatchObject({ code: 'ambiguous' });
    await daemon.client.replyAgent(first.conversationId, { answer: 'yes' }, randomUUID());
    await daemon.client.replyAgent(asker.alias, { answer: 'no' }, randomUUID());
    expect((await daemon.client.showQuestion(second.conversationId)).question.answer).toBe('no');
  });
});

describe('not now', () => {
  test('ends the wait of the asking agent, and tells it to decide itself', async () => {
    const question = await askAs(daemon, asker, { person: true, question: 'May I?' });
    const end = endOf(agentClient(daemon.home, asker.id), question.conversationId);
    await daemon.client.replyAgent(question.conversationId, { notNow: true }, randomUUID());
    expect(await end).toMatchObject({
      end: 'not-now',
      reason: expect.stringContaining('Decide it yourself') as string,
    });
  });

  test('continues a run that ended with questions', async () => {
    const agent = await daemon.ended((await daemon.work([...asksPerson, ...more])).id);
    await daemon.client.replyAgent(agent.id, { notNow: true }, randomUUID());
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { detail: 'thanks' } });
    const prompt = await lastPrompt(agent.id);
    expect(prompt).toContain('No one is available to answer your questions');
    expect(prompt).toContain('Which database?');
  });
});

describe('a permission', () => {
  const ask = (key: string = randomUUID()) =>
    agentClient(daemon.home, asker.id).askPermission({ tool: 'Bash', input: { command: 'rm -r build' } }, key);

  test('is denied with the person’s reason, and takes a yes or a no', async () => {
    const denied = ask();
    const { id } = await whenInInbox(asker);
    const words = daemon.client.replyAgent(id, { answer: 'sure' }, randomUUID());
    await expect(words).rejects.toMatchObject({ code: 'needs_input' });
    await daemon.client.replyAgent(id, { allow: false, answer: 'it is tracked' }, randomUUID());
    expect(await denied).toEqual({ behavior: 'deny', message: 'it is tracked', conversationId: id });
  });

  test('requested again with its key, after its request was lost, waits for the same answer', async () => {
    const key = randomUUID();
    const both = [ask(key), ask(key)];
    const { id } = await whenInInbox(asker);
    expect(await inboxOf(asker)).toHaveLength(1);
    await daemon.client.replyAgent(id, { allow: true }, randomUUID());
    for (const answer of await Promise.all(both))
      expect(answer).toMatchObject({ behavior: 'allow', conversationId: id });
  });

  test('that is long is listed with the omitted size, and can be read whole', async () => {
    const command = `echo ${'x'.repeat(5_000)}; rm -rf /`;
    const denied = agentClient(daemon.home, asker.id).askPermission({ tool: 'Bash', input: { command } }, randomUUID());
    const { id, questions } = await whenInInbox(asker);
    const { question, leftOutBytes } = questions[0] ?? { question: '', leftOutBytes: 0 };
    expect(question).not.toContain('rm -rf');
    const whole = approvalText((await daemon.client.showApproval(id)).approval);
    expect(whole).toContain(command);
    expect(Buffer.byteLength(question.slice(0, -1)) + leftOutBytes).toBe(Buffer.byteLength(whole));
    await daemon.client.replyAgent(id, { allow: false }, randomUUID());
    expect(await denied).toMatchObject({ behavior: 'deny' });
  });

  test('that is too long to show in full is denied without asking', async () => {
    const input = { command: 'x'.repeat(limits.mailSpillBytes) };
    const answer = await agentClient(daemon.home, asker.id).askPermission({ tool: 'Bash', input }, randomUUID());
    expect(answer).toMatchObject({ behavior: 'deny', conversationId: null });
    expect(await inboxOf(asker)).toEqual([]);
  });

  test('that the definition does not allow is denied at once without asking', async () => {
    daemon.define('reader', { description: 'reads', tools: ['Read'] });
    const reader = await daemon.work([{ say: 'at work' }, 'hang'], { definition: 'reader' });
    const answer = await agentClient(daemon.home, reader.id).askPermission({ tool: 'Bash' }, randomUUID());
    expect(answer).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('does not allow Bash') as string,
    });
    expect(await inboxOf(reader)).toEqual([]);
  });

  test('is denied if there is no answer in time [field notes 2.5]', async () => {
    const denied = ask();
    await whenInInbox(asker);
    now += limits.questionMs;
    expect(await denied).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('Nobody answered in time') as string,
    });
  });
});
