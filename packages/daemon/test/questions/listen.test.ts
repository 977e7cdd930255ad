import type { QuestionView } from '@pawl/protocol/questions/view';
import type { AgentView } from '@pawl/protocol/agents/view';
import { limits } from '@pawl/schema/limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { statesOf } from '../support/mail.ts';
import { askAs, atWork } from './asking.ts';

let now = Date.now();
let daemon: TestDaemon;
let asker: AgentView;
let agent: AgentView;
beforeAll(async () => {
  daemon = await startTestDaemon({ clock: () => now, timing: { routeMs: 50 } });
  [asker, agent] = await Promise.all([atWork(daemon), atWork(daemon)]);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function heard(agent: AgentView, signal?: AbortSignal): Promise<QuestionView | null> {
  for await (const question of agentClient(daemon.home, agent.id).listen(agent.id, signal)) return question;
  return null;
}

async function answerAll(): Promise<void> {
  const self = agentClient(daemon.home, agent.id);
  for (const { conversationId } of (await self.openQuestions(agent.id)).questions)
    await self.answer(conversationId, { answer: 'yes' });
}

/** The mail of a question, as the log has it. */
async function mailOf(agent: AgentView, { conversationId }: QuestionView): Promise<string> {
  const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
  const asked = events.find(({ type, data }) => type === 'question.asked' && data['questionId'] === conversationId);
  return String(asked?.data['mailId']);
}

test('waiting questions come first, in order; then new ones [S3-80, 8.8]', async () => {
  const first = await askAs(daemon, asker, { agent: agent.id, question: 'one?' });
  const second = await askAs(daemon, asker, { agent: agent.id, question: 'two?' });
  expect((await heard(agent))?.conversationId).toBe(first.conversationId);
  expect((await heard(agent))?.conversationId).toBe(second.conversationId);
  const next = heard(agent);
  const third = await askAs(daemon, asker, { agent: agent.id, question: 'three?' });
  expect(await next).toMatchObject({
    conversationId: third.conversationId,
    question: 'three?',
    from: { id: asker.id },
  });
  await answerAll();
});

test('two listeners get different questions, and an unanswered one is given out again [5.2.14]', async () => {
  const both = [heard(agent), heard(agent)];
  const asked = [
    await askAs(daemon, asker, { agent: agent.id, question: 'one?' }),
    await askAs(daemon, asker, { agent: agent.id, question: 'two?' }),
  ];
  const ids = (await Promise.all(both)).map((question) => question?.conversationId);
  expect(new Set(ids)).toEqual(new Set(asked.map(({ conversationId }) => conversationId)));
  await agentClient(daemon.home, agent.id).answer(asked[0]?.conversationId ?? '', { answer: 'yes' });
  now += limits.listenMs;
  expect((await heard(agent))?.conversationId).toBe(asked[1]?.conversationId);
  await answerAll();
});

test('a question that a listener received is delivered and read', async () => {
  const question = await askAs(daemon, asker, { agent: agent.id, question: 'x?' });
  await heard(agent);
  const states = await statesOf(daemon.client, await mailOf(agent, question));
  expect(states.filter((state) => state === 'delivered')).toHaveLength(1);
  expect(states.at(-1)).toBe('read');
  await agentClient(daemon.home, agent.id).answer(question.conversationId, { answer: 'yes' });
});

test('a listener that has left gets nothing', async () => {
  const leaving = new AbortController();
  const left = heard(agent, leaving.signal);
  leaving.abort();
  expect(await left).toBeNull();
  const question = await askAs(daemon, asker, { agent: agent.id, question: 'x?' });
  expect((await heard(agent))?.conversationId).toBe(question.conversationId);
});
