import type { Client } from '@pawl/protocol/client';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CrashLife } from '../support/crash-life.ts';
import { crashLife } from '../support/crash-life.ts';
import { writeScenario } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';

let life: CrashLife;
beforeAll(async () => {
  life = await crashLife();
});
afterAll(() => life[Symbol.asyncDispose]());

const points = [
  'ingest.after_commit',
  'approval.after_judge',
  'approval.after_answer',
  'approval.after_write',
  'approval.after_send',
] as const satisfies readonly CrashPoint[];

async function requestId(client: Client, agentId: string): Promise<string> {
  return waitUntil(
    async () => {
      const { items } = await client.inbox().catch(() => ({ items: [] }));
      return items.find(({ agent }) => agent.id === agentId)?.id;
    },
    { what: 'the request in the inbox' },
  );
}

test.each(sampleOf(points, 3))(
  'a request whose daemon is killed at %s gets the one decision that was recorded, in the same turn',
  async (point) => {
    const isEarly = point === 'ingest.after_commit' || point === 'approval.after_judge';
    const running = await life.armed(point);
    const permit = { name: 'Bash', input: { command: `echo ${point}` } };
    const options = { scenario: await writeScenario(life.path, [{ permit }, { say: `over ${point}` }, 'complete']) };
    const work = { path: life.repository, task: 'a task', provider: 'scripted', options, access: 'ask' as const };
    const { agent } = await running.client.work(work, randomUUID());
    const [key, body] = [randomUUID(), { allow: false, answer: `not ${point}` }];
    if (!isEarly)
      await running.client.replyAgent(await requestId(running.client, agent.id), body, key).catch(() => null);
    const { client } = await life.next();
    if (isEarly) await client.replyAgent(await requestId(client, agent.id), body, key);
    await outputHas(client, agent.id, `0 allowed, 1 denied: not ${point}`);
    await outputHas(client, agent.id, `over ${point}`);
    const { events } = await client.events({ agent: agent.id, limit: 1_000 });
    const answers = events.filter(({ type }) => type === 'approval.answered');
    expect(answers.map(({ data }) => data['decision'])).toEqual(['deny']);
    // Otherwise the decision could be marked as sent, and pass that point, after the next case has armed it.
    const ended = async () => {
      const { sessions } = await client.inspectAgent(agent.id);
      return sessions.every(({ endedAt }) => endedAt !== null) && sessions;
    };
    expect(await waitUntil(ended, { what: 'the end of the session' })).toHaveLength(1);
  },
);
