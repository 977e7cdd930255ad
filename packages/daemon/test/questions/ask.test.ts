import type { AgentView } from '@pawl/protocol/agents/view';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { allEvents } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';
import type { RestingAgent } from '../support/resting-agents.ts';
import { restingAgents } from '../support/resting-agents.ts';
import { askAs, atRest, atWork, endedUnseen, endOf, sessionsOf } from './asking.ts';

/** Time passes only when a test says so, and there are no periodic checks: everything has a cause. */
let now = Date.now();
let daemon: TestDaemon;
let [first, second, third] = [] as unknown as [AgentView, AgentView, AgentView];
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => now });
  [first, second, third] = await Promise.all([atWork(daemon), atWork(daemon), atWork(daemon)]);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

// These two come first: nothing else is due then that would trigger the timer.
test('a question that a listener received and did not answer is asked again after its deadline', async () => {
  daemon.define('fetcher', { name: 'fetcher', kind: 'main', mail: 'pull', tools: ['*'], description: 'fetches' });
  const fetcher = await atWork(daemon, { definition: 'fetcher' });
  const self = agentClient(daemon.home, fetcher.id);
  const { conversationId } = await askAs(daemon, first, { agent: fetcher.id, question: 'still there?' });
  for await (const heard of self.listen(fetcher.id)) expect(heard.conversationId).toBe(conversationId);
  now += limits.listenMs;
  // Any change of a question resets the timer, which is a real one.
  const other = await askAs(daemon, first, { person: true, question: 'and you?' });
  const isReminder = ({ type, data }: Event) => type === 'mail.sent' && data['questionId'] === conversationId;
  await waitUntil(async () => (await allEvents(daemon.client)).filter(isReminder).length === 2, {
    what: 'the reminder',
  });
  await self.answer(conversationId, { answer: 'yes' });
  await daemon.client.replyAgent(other.conversationId, { notNow: true }, randomUUID());
  for (const each of [conversationId, other.conversationId]) await agentClient(daemon.home, first.id).noteShown(each);
});

test('a question ends with its asker, even an idle one that completes', async () => {
  const [asker] = (await restingAgents(daemon.home, [{ class: 'ephemeral' }])) as [RestingAgent];
  const body = { agent: first.id, question: 'x?' };
  const { conversationId } = (await asker.client.ask(body, randomUUID())).question;
  await asker.client.completeAgent(asker.id, { summary: 'done without it' });
  expect(await endedUnseen(daemon, conversationId)).toMatchObject({
    end: 'cancelled',
    reason: `${asker.alias}, who asked, is dead`,
  });
});

describe('an idle agent', () => {
  test('is resumed by a question, is told how to answer, and its answer ends the wait [S3-60, S3-61]', async () => {
    const resting = await atRest(daemon);
    const question = await askAs(daemon, first, { agent: resting.alias, question: 'which port?' });
    const end = endOf(agentClient(daemon.home, first.id), question.conversationId);
    await waitUntil(async () => (await sessionsOf(daemon, resting)) === 2, { what: 'its second session' });
    const { sessions } = await daemon.client.inspectAgent(resting.id);
    expect(sessions[1]).toMatchObject({ conversation: 'resume', providerSessionId: sessions[0]?.providerSessionId });
    const prompt = await waitUntil(async () => daemon.promptOf(sessions[1]?.directory ?? '').catch(() => undefined), {
      what: 'its prompt',
    });
    expect(prompt).toContain('which port?');
    expect(prompt).toContain(`--conversation-id ${question.conversationId}`);
    await agentClient(daemon.home, resting.id).answer(question.conversationId, { answer: 'port 8080' });
    expect(await end).toMatchObject({ end: 'answered', answer: 'port 8080', reason: null });
  });

  test('is resumed once by twenty simultaneous questions, and receives them all [5.2.8, 8.8]', async () => {
    const resting = await atRest(daemon);
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, no) =>
        daemon.client.ask({ agent: resting.id, question: `no ${no}?` }, randomUUID()),
      ),
    );
    await waitUntil(async () => (await viewOf(daemon.client, resting.id)).activity === 'running', {
      what: 'it to be at work',
    });
    const self = agentClient(daemon.home, resting.id);
    for (const { question } of asked) await self.answer(question.conversationId, { answer: 'yes' });
    const { runs, sessions } = await daemon.client.inspectAgent(resting.id);
    expect([runs.length, sessions.length]).toEqual([2, 2]);
    const { events } = await daemon.client.events({ agent: resting.id, limit: 1000 });
    expect(events.filter(({ type }) => type === 'question.asked')).toHaveLength(20);
    expect(events.filter(({ type }) => type === 'question.ended')).toHaveLength(20);
  });
});

test('two agents do all of it by themselves, with the commands in their prompts [S3-80, S3-81, S3-82]', async () => {
  const answers = [
    'heard=$("$PAWL_BIN" listen --agent-id "$PAWL_AGENT_ID" --timeout 20s)',
    'id=$(printf %s "$heard" | sed \'s/.*"conversationId":"\\([^"]*\\)".*/\\1/\')',
    '"$PAWL_BIN" answer "port 8080" --conversation-id "$id"',
  ].join('\n');
  const asked = await atRest(daemon, [{ shell: answers }, 'complete']);
  const ask = '"$PAWL_BIN" ask "which port?" --from "$PAWL_AGENT_ID" --agent-id ' + asked.id;
  const asker = await daemon.work([{ shell: `${ask} > answer.txt; cat answer.txt` }, 'complete']);
  await daemon.ended(asker.id);
  expect(readFileSync(join(asker.worktree ?? '', 'answer.txt'), 'utf8')).toBe('port 8080\n');
  await daemon.ended(asked.id);
  await outputHas(daemon.client, asked.id, 'status\\":\\"answered');
});

/** Asks and waits, as the command line does: the error message. */
async function complaint(from: AgentView, to: AgentView): Promise<string> {
  try {
    const { conversationId } = await askAs(daemon, from, { agent: to.id, question: 'what is it?' });
    const { end, reason } = await endOf(agentClient(daemon.home, from.id), conversationId);
    return `${end}: ${reason}`;
  } catch (error) {
    return String(error);
  }
}

test('two agents that ask each other at once both learn at once that they would deadlock [5.2.13]', async () => {
  const complaints = await Promise.all([complaint(first, second), complaint(second, first)]);
  // One was refused, which ended the other's question: no timeout was involved.
  expect(complaints.filter((words) => words.startsWith('cancelled: '))).toHaveLength(1);
  const pairs = [`${first.alias} asks ${second.alias} asks`, `${second.alias} asks ${first.alias} asks`];
  for (const words of complaints)
    expect(
      pairs.some((pair) => words.includes(pair)),
      words,
    ).toBe(true);
  const open = [first, second].map(async ({ id }) => (await daemon.client.openQuestions(id)).questions);
  expect((await Promise.all(open)).flat()).toEqual([]);
});

test('a cycle of three is named completely, and none of them waits any longer [5.2.13]', async () => {
  const ask = async (from: AgentView, to: AgentView) => askAs(daemon, from, { agent: to.id, question: 'what?' });
  const chain = [await ask(first, second), await ask(second, third)];
  const ends = chain.map((each) => endOf(daemon.client, each.conversationId));
  const circle = [third, first, second].map(({ alias }) => alias);
  await expect(ask(third, first)).rejects.toMatchObject({ code: 'conflict', details: { cycle: circle } });
  for (const ended of await Promise.all(ends)) {
    expect(ended.end).toBe('cancelled');
    expect(ended.reason).toContain([...circle, third.alias].join(' asks '));
  }
});

test('a chain that does not return is not a cycle', async () => {
  const { conversationId } = await askAs(daemon, first, { agent: second.id, question: 'one?' });
  const other = await askAs(daemon, third, { agent: second.id, question: 'two?' });
  const self = agentClient(daemon.home, second.id);
  for (const id of [conversationId, other.conversationId]) await self.answer(id, { answer: 'yes' });
  // An answered question is not waited for any more.
  const back = await askAs(daemon, second, { agent: first.id, question: 'and you?' });
  await agentClient(daemon.home, first.id).answer(back.conversationId, { answer: 'no' });
});
