import type { Client } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/node/home';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { runEnded, writeScenario } from '../support/daemon.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { allEvents, shownOrder, timesShown } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

const mailsEach = 5;
/** The daemon is killed after each so many sends. */
const sendsPerKill = 30;
const rests = { repeat: { times: 60, steps: [{ say: 'again' }, 'complete'] } };
const asks = { signal: { status: 'questions', questions: [{ id: 'q', question: 'Which?' }] } };

test('senders and recipients in every state, the daemon killed repeatedly: every mail arrives once and in order, or is a dead letter [8.7, fault 3, fault 25]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  let daemon: DaemonProcess = await readyDaemon(home);
  const { client } = daemon;
  await client.addProject({ path: repository });
  const work = async (steps: unknown[]) => {
    const options = { scenario: await writeScenario(place.path, steps) };
    const { agent } = await client.work(
      { path: repository, task: 'a task', provider: 'scripted', options },
      randomUUID(),
    );
    return agent;
  };
  const hanging = async () => {
    const agent = await work([{ say: 'standing by' }, 'hang', rests]);
    await outputHas(client, agent.id, 'standing by');
    return agent.id;
  };
  const rested = async (steps: unknown[]) => (await runEnded(client, (await work(steps)).id)).id;
  const running = await hanging();
  const toTalk = await work([
    { repeat: { times: 400, steps: [{ say: 'at work' }, { sleep: '20ms' }] } },
    'complete',
    rests,
  ]);
  const idle = await rested([{ say: 'first' }, 'complete', rests]);
  const waiting = await rested([asks, 'wait', rests]);
  const stopped = await hanging();
  await client.stopAgent(stopped);
  const doomed = await hanging();
  await client.stopAgent(doomed);
  const unborn = (await client.fork(idle, { switch: false }, randomUUID())).agent.id;
  const recipients = [running, toTalk.id, idle, waiting, stopped, doomed, unborn];
  const senders = [await hanging(), await hanging(), await hanging()];

  /** Repeats a request with the same key until it is answered, as the command line does. */
  async function insist(act: (to: Client) => Promise<string>, to: Client): Promise<string> {
    let answer = '';
    await waitUntil(async () => (answer = await act(to)) !== '', { what: 'an answer' });
    return answer;
  }

  const sent = new Map<string, { from: string; to: string }>();
  let kills = 0;
  async function sendAll(from: string): Promise<void> {
    const as = agentClient(homeAt(home), from);
    for (let number = 0; number < mailsEach; number++) {
      for (const to of recipients) {
        const key = randomUUID();
        const body = `${number} from ${from}`;
        const id = await insist(async (client) => (await client.sendMail({ to, body }, key)).mails[0]?.id ?? '', as);
        sent.set(id, { from, to });
        if (sent.size % sendsPerKill === 0) {
          kills++;
          await daemon.kill('SIGKILL');
          daemon = await readyDaemon(home);
        }
      }
    }
  }
  try {
    await Promise.all(senders.map(sendAll));
    expect(kills).toBeGreaterThanOrEqual(3);
    expect(sent.size).toBe(senders.length * recipients.length * mailsEach);
    await client.killAgent(doomed, { cascade: false });
    for (const id of [stopped, unborn]) await client.resumeAgent(id, { prompt: 'go on' }, randomUUID());
    await client.replyAgent(waiting, { answer: 'that one' }, randomUUID());
    const settled = async () => {
      const events = await allEvents(client);
      const ends = events.filter(({ type }) => type === 'mail.delivered' || type === 'mail.dead_lettered');
      const ids = ends.map(({ data }) => String(data['mailId'])).filter((id) => sent.has(id));
      return { ids, events };
    };
    await waitUntil(async () => (await settled()).ids.length >= sent.size, {
      what: 'all mail to arrive',
    });
    // Each ended once: delivered or, for the dead recipient, returned.
    const { ids, events } = await settled();
    expect(ids.toSorted()).toEqual([...sent.keys()].toSorted());
    const dead = events.filter(({ type }) => type === 'mail.dead_lettered').map(({ data }) => String(data['mailId']));
    expect(dead.filter((id) => sent.has(id)).toSorted()).toEqual(
      [...sent]
        .filter(([, { to }]) => to === doomed)
        .map(([id]) => id)
        .toSorted(),
    );
    for (const to of recipients.filter((id) => id !== doomed)) {
      const mine = [...sent].filter(([, mail]) => mail.to === to);
      const mineIds = mine.map(([id]) => id);
      expect(await timesShown(client, to, mineIds), to).toEqual(mineIds.map(() => 1));
      const order = await shownOrder(client, to, mineIds);
      for (const from of senders) {
        const fromOne = mine.filter(([, mail]) => mail.from === from).map(([id]) => id);
        expect(
          order.filter((id) => fromOne.includes(id)),
          `${from} to ${to}`,
        ).toEqual(fromOne);
      }
      for (const id of mineIds) await agentClient(homeAt(home), to).ackMail(id);
    }
    const acked = (await allEvents(client)).filter(({ type }) => type === 'mail.acked');
    expect(acked).toHaveLength(sent.size - mailsEach * senders.length);
    // The senders are told what did not arrive.
    const notices = (await allEvents(client)).filter(
      ({ type, data }) => type === 'mail.sent' && data['kind'] === 'system',
    );
    expect(notices.length).toBeGreaterThanOrEqual(mailsEach * senders.length);
    for (const { id } of (await client.listAgents()).agents) await client.stopAgent(id);
  } finally {
    await daemon.kill('SIGTERM');
  }
}, 300_000);
