import { recordMail, shortBody } from '@pawl/daemon/mail/mail-record';
import { rootAgent } from '@pawl/daemon/platform/root-agent';
import { limits } from '@pawl/schema/limit';
import { agentById } from '@pawl/store/agents/agents';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { allEvents, mailIs, send, shownOrder, statesOf, timesShown, toldTo } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';
import { storeOf, withStore } from '../support/stores.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const again = { repeat: { times: 20, steps: [{ say: 'again' }, 'complete'] } };

async function busy() {
  const agent = await daemon.work([{ say: 'standing by' }, 'hang', again]);
  await outputHas(daemon.client, agent.id, 'standing by');
  return agent;
}

/** An idle agent whose definition sets a mail policy. */
async function resting(name: string, mail: string) {
  daemon.define(name, { kind: 'main', class: 'persistent', mail, tools: ['*'] }, 'You rest.');
  const options = { scenario: await daemon.scenario([{ say: 'first' }, 'complete', again]) };
  const work = { path: daemon.repository, task: 'rest', definition: name, provider: 'scripted', options };
  const { agent } = await daemon.client.work(work, randomUUID());
  return daemon.ended(agent.id);
}

const sessionsOf = async (id: string) => (await daemon.client.inspectAgent(id, { worktree: false })).sessions.length;

test('a person’s mail to an agent that fetches its mail starts one turn, which contains it', async () => {
  const agent = await resting('fetcher', 'pull');
  const mailId = await send(daemon.client, agent.id, 'look at the log');
  await mailIs(daemon.client, mailId, 'read');
  await daemon.ended(agent.id);
  expect(await timesShown(daemon.client, agent.id, [mailId])).toEqual([1]);
  // Nothing is left that could start another one.
  const other = await send(agentClient(daemon.home, (await busy()).id), agent.id, 'no hurry');
  expect(await statesOf(daemon.client, other)).toEqual(['sent']);
  expect(await sessionsOf(agent.id)).toBe(2);
});

test('a question behind more mail than one turn holds is in the first turn', async () => {
  const agent = await resting('patient', 'next-turn');
  const sender = await busy();
  const as = agentClient(daemon.home, sender.id);
  const many = limits.mailPerTurn + 20;
  for (let number = 0; number < many; number++) await send(as, agent.id, `no hurry ${number}`);
  expect(await sessionsOf(agent.id)).toBe(1);
  const mailId = await send(daemon.client, agent.id, 'now, please');
  await mailIs(daemon.client, mailId, 'delivered');
  await daemon.ended(agent.id);
  const prompt = await daemon.promptOf((await daemon.client.inspectAgent(agent.id)).sessions[1]?.directory ?? '');
  expect(prompt).toContain(mailId);
  expect(prompt.match(/<letter /g)).toHaveLength(limits.mailPerTurn);
  await daemon.client.stopAgent(sender.id);
});

test('more of a person’s mail than one turn holds reaches a conversation once each, in order', async () => {
  const agent = await daemon.ended((await daemon.work([{ say: 'first' }, 'complete', again], { mode: 'converse' })).id);
  const store = storeOf(daemon.home.root);
  const words = Array.from({ length: limits.mailPerTurn + 20 }, (_, number) => `word ${number}.`);
  const ids = await store.write(async (tx) => {
    const [from, to] = [await rootAgent(tx.db), await agentById(tx.db, agent.id)];
    if (to === null) throw new Error('the agent is gone');
    const mails = [];
    for (const word of words) mails.push(await recordMail(tx, { from, to, kind: 'message' }, shortBody(word)));
    return mails.map(({ id }) => id);
  });
  for (const id of ids) await mailIs(daemon.client, id, 'delivered');
  await daemon.ended(agent.id);
  expect(await toldTo(daemon.client, agent.id, /word \d+\./g)).toEqual(words);
});

test('many concurrent senders to two agents in a turn, more than a process holds: each once, each sender in order [fault 25]', async () => {
  const recipients = [await busy(), await busy()];
  const senders = await Promise.all([busy(), busy(), busy()]);
  const each = 30;
  const sent = new Map<string, string[]>();
  await Promise.all(
    senders.flatMap(({ id: from }) =>
      recipients.map(async ({ id: to }) => {
        const as = agentClient(daemon.home, from);
        const ids: string[] = [];
        for (let number = 0; number < each; number++) ids.push(await send(as, to, `number ${number}`));
        sent.set(`${from} ${to}`, ids);
      }),
    ),
  );
  for (const { id: to } of recipients) {
    const mine = senders.map(({ id: from }) => sent.get(`${from} ${to}`) ?? []);
    await waitUntil(async () => (await shownOrder(daemon.client, to, mine.flat())).length >= mine.flat().length, {
      what: 'all of it',
    });
    const order = await shownOrder(daemon.client, to, mine.flat());
    expect(order.toSorted()).toEqual(mine.flat().toSorted());
    for (const ids of mine) expect(order.filter((id) => ids.includes(id))).toEqual(ids);
  }
  const delivered = (await allEvents(daemon.client)).filter(({ type }) => type === 'mail.delivered');
  expect(new Set(delivered.map(({ data }) => data['mailId'])).size).toBe(delivered.length);
  for (const { id } of [...recipients, ...senders]) await daemon.client.stopAgent(id);
});

test('an agent in a turn that waits for mail gets it there, and not by its input too [W1-23]', async () => {
  const agent = await busy();
  const sender = await busy();
  const waiting = agentClient(daemon.home, agent.id).waitMail({ timeoutMs: limits.mailWaitMs });
  // Its wait has started when a later request of it is answered.
  await agentClient(daemon.home, agent.id).listMail();
  const mailId = await send(agentClient(daemon.home, sender.id), agent.id, 'the answer is 42');
  expect((await waiting).mails.map(({ id }) => id)).toEqual([mailId]);
  const next = await send(agentClient(daemon.home, sender.id), agent.id, 'and one more');
  await mailIs(daemon.client, next, 'delivered');
  expect(await timesShown(daemon.client, agent.id, [mailId, next])).toEqual([0, 1]);
  for (const { id } of [agent, sender]) await daemon.client.stopAgent(id);
});

test('mail that waited while no daemon ran is delivered by the next one [W4-20]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  await using first = await startTestDaemon({ home });
  const agent = await first.work([{ say: 'first' }, 'complete', again]);
  await first.ended(agent.id);
  await first.stop();
  const mail = await withStore(home, async (store) => {
    const [from, to] = [await rootAgent(store.db), await agentById(store.db, agent.id)];
    if (to === null) throw new Error('the agent is gone');
    return store.write((tx) => recordMail(tx, { from, to, kind: 'message' }, shortBody('one thing more')));
  });
  // The timed sweep comes after two minutes, which is longer than this waits.
  await using second = await startTestDaemon({ home });
  await mailIs(second.client, mail.id, 'delivered');
  await second.ended(agent.id);
});
