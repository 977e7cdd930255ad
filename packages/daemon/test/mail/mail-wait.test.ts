import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { send, statesOf } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';
import type { RestingAgent } from '../support/resting-agents.ts';
import { restingAgents } from '../support/resting-agents.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const three = async () =>
  (await restingAgents(daemon.home, [{}, {}, {}])) as [RestingAgent, RestingAgent, RestingAgent];

/** An agent in the middle of a turn that does not end by itself. */
async function busy() {
  const agent = await daemon.work([{ say: 'standing by' }, 'hang']);
  await outputHas(daemon.client, agent.id, 'standing by');
  return { ...agent, client: agentClient(daemon.home, agent.id) };
}

/** Far longer than any of these tests takes: a wait that returns earlier was woken. */
const longMs = limits.mailWaitMs;

describe('the next mail [W1-23]', () => {
  test('a timeout of 0 checks once and reports nothing', async () => {
    const [one] = await three();
    expect(await one.client.waitMail({ timeoutMs: 0 })).toEqual({ done: false, mails: [], shown: [], agents: [] });
    expect(await one.client.waitMail({ timeoutMs: 20 })).toMatchObject({ done: false, mails: [] });
  });

  test('the oldest unread mail is returned at once, whole, and again until it was read', async () => {
    const [one, two] = await three();
    const [first, second] = [
      await send(two.client, one.id, 'x'.repeat(5_000)),
      await send(two.client, one.id, 'second'),
    ];
    for (const _ of [1, 2]) {
      const { done, mails } = await one.client.waitMail({ timeoutMs: longMs });
      expect([done, mails.map(({ id, body }) => [id, body.length])]).toEqual([true, [[first, 5_000]]]);
    }
    expect(await statesOf(daemon.client, first)).toEqual(['sent', 'delivered']);
    await one.client.readMail(first);
    expect((await one.client.waitMail({ timeoutMs: longMs })).mails.map(({ id }) => id)).toEqual([second]);
  });

  test('a wait is woken by mail for its agent, and by no other', async () => {
    const [one, two, three_] = await three();
    const waiting = one.client.waitMail({ timeoutMs: longMs });
    await send(two.client, three_.id, 'not for one');
    const id = await send(two.client, one.id, 'for one');
    expect((await waiting).mails.map((mail) => mail.id)).toEqual([id]);
  });

  test('^C: a caller that left gets nothing', async () => {
    const [one, two] = await three();
    const leaving = new AbortController();
    const waiting = daemon.request('POST', '/api/mail/wait', { timeoutMs: longMs }, leaving.signal);
    leaving.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    const id = await send(two.client, 'root', 'are you there?');
    await send(two.client, one.id, 'another');
    expect(await statesOf(daemon.client, id)).toEqual(['sent']);
  });
});

describe('fan-in [W1-23]', () => {
  test('received, running, idle and dead are distinguished; the timeout returns what there is', async () => {
    const [one, sender, idle] = await three();
    const [dead] = await restingAgents(daemon.home, [{ endedAt: 1, endReason: 'killed' }]);
    const works = await busy();
    const id = await send(sender.client, one.id, 'done');
    const agents = [sender.alias, idle.id, works.alias, dead?.id ?? ''];
    const waited = await one.client.waitMail({ timeoutMs: 50, agents });
    expect(waited.done).toBe(false);
    expect(waited.agents.map(({ state, mailId }) => [state, mailId])).toEqual([
      ['received', id],
      ['idle', null],
      ['running', null],
      ['dead', null],
    ]);
    expect(waited.mails.map((mail) => mail.id)).toEqual([id]);
    expect(await statesOf(daemon.client, id)).toEqual(['sent', 'delivered']);
    await daemon.client.stopAgent(works.id);
  });

  test('returns as soon as all are settled: by mail, by coming to rest, or by death', async () => {
    const [one] = await three();
    const [writes, rests, dies] = [await busy(), await busy(), await busy()];
    const waiting = one.client.waitMail({ timeoutMs: longMs, agents: [writes.id, rests.id, dies.id, writes.alias] });
    const begin = performance.now();
    const id = await send(writes.client, one.id, 'here it is');
    await daemon.client.stopAgent(rests.id);
    await daemon.client.killAgent(dies.id, {});
    const { done, agents } = await waiting;
    expect(performance.now() - begin).toBeLessThan(longMs);
    expect(done).toBe(true);
    expect(agents.map(({ state, mailId }) => [state, mailId])).toEqual([
      ['received', id],
      ['idle', null],
      ['dead', null],
    ]);
    await daemon.client.stopAgent(writes.id);
  });

  test('an idle agent that mail is about to wake is waited for, and its answer arrives', async () => {
    const [one] = await three();
    const agent = await daemon.work([
      'complete',
      { shell: `pawl send ${one.id} 'the answer' > said.txt 2>&1` },
      'complete',
    ]);
    await daemon.ended(agent.id);
    await daemon.client.sendMail({ to: agent.id, body: 'the question' }, randomUUID());
    const { agents, mails } = await waitUntil(
      async () => {
        const found = await one.client.waitMail({ timeoutMs: longMs, agents: [agent.id] });
        return found.done ? found : null;
      },
      { what: 'the answer' },
    );
    expect(agents.map(({ state }) => state)).toEqual(['received']);
    expect(mails.map(({ body }) => body)).toEqual(['the answer']);
  });

  test('unknown names are refused', async () => {
    const [one] = await three();
    await expect(one.client.waitMail({ timeoutMs: 0, agents: ['nobody'] })).rejects.toMatchObject({
      code: 'agent_not_found',
    });
    await expect(one.client.waitMail({ timeoutMs: 10_000_000 })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
