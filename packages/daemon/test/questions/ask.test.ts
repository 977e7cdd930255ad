import type { AgentView } from '@pawl/protocol/view';
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@pawl/testing/wait-until';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';
import { askAs, atRest, atWork, endOf, sessionsOf } from './asking.ts';

let daemon: TestDaemon;
let [first, second, third] = [] as unknown as [AgentView, AgentView, AgentView];
beforeAll(async () => {
  daemon = await startTestDaemon();
  [first, second, third] = await Promise.all([atWork(daemon), atWork(daemon), atWork(daemon)]);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('an agent that rests', () => {
  test('S3-60, S3-61: is resumed by a question, is told it with how to answer, and its answer ends the wait', async () => {
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

  test('5.2.8, 8.8: is resumed once by twenty questions at one instant, and is told them all', async () => {
    const resting = await atRest(daemon);
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, no) =>
        daemon.client.ask({ agent: resting.id, question: `no ${no}?` }, randomUUID()),
      ),
    );
    await waitUntil(async () => (await daemon.client.inspectAgent(resting.id)).agent.activity === 'running', {
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

test('S3-80, S3-81, S3-82: two agents do all of it by themselves, with the commands that their prompts name', async () => {
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

/** Asks and waits, as the command line does: what went wrong, in words. */
async function complaint(from: AgentView, to: AgentView): Promise<string> {
  try {
    const { conversationId } = await askAs(daemon, from, { agent: to.id, question: 'what is it?' });
    const { end, reason } = await endOf(agentClient(daemon.home, from.id), conversationId);
    return `${end}: ${reason}`;
  } catch (error) {
    return String(error);
  }
}

test('5.2.13: two that ask each other at once both hear within a second that they would wait for each other', async () => {
  const begun = performance.now();
  const complaints = await Promise.all([complaint(first, second), complaint(second, first)]);
  expect(performance.now() - begun).toBeLessThan(1_000);
  const pairs = [`${first.alias} asks ${second.alias} asks`, `${second.alias} asks ${first.alias} asks`];
  for (const words of complaints)
    expect(
      pairs.some((pair) => words.includes(pair)),
      words,
    ).toBe(true);
  const open = [first, second].map(async ({ id }) => (await daemon.client.openQuestions(id)).questions);
  expect((await Promise.all(open)).flat()).toEqual([]);
});

test('5.2.13: a circle of three is named whole, and nobody in it waits any longer', async () => {
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

test('a chain that does not come back is none', async () => {
  const { conversationId } = await askAs(daemon, first, { agent: second.id, question: 'one?' });
  const other = await askAs(daemon, third, { agent: second.id, question: 'two?' });
  const self = agentClient(daemon.home, second.id);
  for (const id of [conversationId, other.conversationId]) await self.answer(id, { answer: 'yes' });
  // What was answered is not waited for any more.
  const back = await askAs(daemon, second, { agent: first.id, question: 'and you?' });
  await agentClient(daemon.home, first.id).answer(back.conversationId, { answer: 'no' });
});
