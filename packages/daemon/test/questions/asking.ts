import type { Client } from '@pawl/protocol/client';
import type { AskBody, QuestionView } from '@pawl/protocol/questions/view';
import type { AgentView } from '@pawl/protocol/agents/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { allEvents, statesOf } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

/** An agent that works, and does nothing by itself. */
export async function atWork(daemon: TestDaemon, body: Parameters<TestDaemon['work']>[1] = {}): Promise<AgentView> {
  const agent = await daemon.work([{ say: 'at work' }, 'hang'], body);
  await outputHas(daemon.client, agent.id, 'at work');
  return agent;
}

/** An idle agent that works endlessly once woken. */
export async function atRest(daemon: TestDaemon, steps: unknown[] = ['hang']): Promise<AgentView> {
  const agent = await daemon.work([{ say: 'hello' }, 'complete', ...steps]);
  return daemon.ended(agent.id);
}

/** Asks as an agent. */
export async function askAs(daemon: TestDaemon, from: AgentView, body: AskBody): Promise<QuestionView> {
  return (await agentClient(daemon.home, from.id).ask(body, randomUUID())).question;
}

/** Waits for the end of a question, as the command line does. */
export async function endOf(client: Client, conversationId: string): Promise<QuestionView> {
  for await (const ended of client.followQuestion(conversationId)) return ended;
  throw new Error(`the question ${conversationId} has not ended`);
}

/** Polls until a question has ended, without waiting for it. */
export async function endedUnseen({ client }: TestDaemon, conversationId: string): Promise<QuestionView> {
  return waitUntil(
    async () => {
      const { question } = await client.showQuestion(conversationId);
      return question.end === null ? undefined : question;
    },
    { what: `the end of ${conversationId}` },
  );
}

/** The mails about a question, with their states. */
export async function mailsAbout({ client }: Pick<TestDaemon, 'client'>, conversationId: string) {
  const sent = (await allEvents(client)).filter(
    ({ type, data }) => type === 'mail.sent' && data['questionId'] === conversationId,
  );
  return Promise.all(
    sent.map(async ({ agentId, data }) => ({
      to: agentId,
      kind: String(data['kind']),
      states: await statesOf(client, String(data['mailId'])),
    })),
  );
}

export async function sessionsOf(daemon: TestDaemon, agent: AgentView): Promise<number> {
  return (await daemon.client.inspectAgent(agent.id, { worktree: false })).sessions.length;
}
