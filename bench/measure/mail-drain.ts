import { createAuthority } from '@pawl/daemon/platform/http/authority';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addIdleAgents, openStoreAt } from '../fabricate.ts';
import { plainDatabase } from '../floor.ts';
import type { Measure, MeasureOptions } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import { residentBytes } from '../program.ts';
import type { Aim, Row } from '../report.ts';
import { median, timed } from '../statistics.ts';
import { followDeliveries } from './mail-deliveries.ts';
import { liveAgent } from './mail.ts';

const mailsEach = 100;
const senders = 16;
const page = 200;
const megabyte = 1024 * 1024;

/** Many waiting mails: how fast they are stored and fetched, and whether that scales linearly. */
export const mailDrain: Measure = {
  name: 'mail-drain',
  async run(options) {
    return [...(await pulled(options)), ...(await handedOver(options))];
  },
};

/** To agents that fetch their mail: many with some each, and one with as many as all of those. */
async function pulled({ quick, progress }: MeasureOptions): Promise<Row[]> {
  const recipients = quick ? 20 : 100;
  const few = recipients / 10;
  const mails = recipients * mailsEach;
  await using place = await makePlace();
  const commitMs = medianCommitMs(place);
  const store = await openStoreAt(place.home.root);
  await addIdleAgents(store, recipients + few + 2);
  await store.close();
  const daemon = await place.startDaemon();
  const { agents } = await place.client.listAgents({ limit: recipients + few + 2 });
  const ids = agents.map(({ id }) => id);
  // A new process is slow for other reasons.
  await roundTrip(place, ids.slice(0, 1), mailsEach);
  const before = residentBytes(daemon.pid);
  progress(`${few * mailsEach} mails to ${few} agents`);
  const small = await roundTrip(place, ids.slice(1, few + 1), mailsEach);
  progress(`${mails} mails to ${recipients} agents`);
  const large = await roundTrip(place, ids.slice(few + 1, few + 1 + recipients), mailsEach);
  progress(`${mails} mails to one agent`);
  const one = await roundTrip(place, ids.slice(-1), mails);
  const added = (residentBytes(daemon.pid) - before) / megabyte;
  const size = mails.toLocaleString('en-US');
  return [
    {
      measure: `a mail among ${size}: taken in`,
      value: large.enqueueMs / large.mails,
      unit: 'ms',
      floor: commitMs,
      note: `floor: one commit; ${senders} senders at once`,
    },
    ...ratesOf(`${size} mails to ${recipients} agents`, large, small),
    ...ratesOf(`${size} mails to one agent`, one, small),
    {
      measure: `list ${page} of ${size} mails`,
      value: one.listMs,
      unit: 'ms',
      aims: [{ of: 'value', atMost: 50 }],
    },
    { measure: `memory added by ${(2 * mails).toLocaleString('en-US')} mails`, value: added, unit: 'MB' },
  ];
}

/** The cost of one durable insert now. */
function medianCommitMs(place: Place): number {
  const plain = plainDatabase(join(place.path, 'plain.db'));
  const times = Array.from({ length: 101 }, () => {
    const start = performance.now();
    plain.insert();
    return performance.now() - start;
  });
  plain.close();
  return median(times);
}

type Times = { mails: number; enqueueMs: number; drainMs: number; listMs: number };

/** Sends to every recipient in turn, from several senders at once, and lets each recipient fetch all its mail. */
async function roundTrip(place: Place, recipients: string[], each: number): Promise<Times> {
  const mails = recipients.length * each;
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let number = next++; number < mails; number = next++) {
      const to = recipients[number % recipients.length] ?? '';
      await place.client.sendMail({ to, body: `This is mail ${number} of ${mails}.` }, randomUUID());
    }
  };
  const enqueueMs = await timed(() => Promise.all(Array.from({ length: senders }, sendNext)));
  const looks = [];
  for (let look = 0; look < 21; look++)
    looks.push(await timed(() => place.client.listMail({ agent: recipients[0] ?? '', limit: page })));
  let fetched = 0;
  const drainMs = await timed(async () => {
    for (const id of recipients) fetched += await fetchAll(clientOf(place, id));
  });
  if (fetched !== mails) throw new Error(`of ${mails} mails ${fetched} arrived`);
  return { mails, enqueueMs, drainMs, listMs: median(looks) };
}

/** Fetches page after page, as an agent does; returns the number of mails. */
async function fetchAll(client: Client): Promise<number> {
  const seen = new Set<string>();
  let before: string | null = null;
  do {
    const answer: Awaited<ReturnType<Client['fetchMail']>> = await client.fetchMail({
      limit: page,
      ...(before === null ? {} : { before }),
    });
    for (const { id, deliveredAt } of answer.mails) if (deliveredAt !== null) seen.add(id);
    before = answer.next;
  } while (before !== null);
  return seen.size;
}

function clientOf(place: Place, agentId: string): Client {
  const token = createAuthority(readFileSync(place.home.token, 'utf8').trim()).agentToken(agentId);
  return homeClient(place.home, { token });
}

function ratesOf(what: string, { mails, enqueueMs, drainMs }: Times, small: Times): Row[] {
  const note = `floor: ${small.mails.toLocaleString('en-US')} mails`;
  const linear: Aim[] = [{ of: 'ratio', atMost: 1.5 }];
  const rate = (durationMs: number) => (mails / durationMs) * 1_000;
  return [
    { measure: `${what}: taken in`, value: rate(enqueueMs), unit: '/s', aims: [{ of: 'value', atLeast: 2_000 }] },
    { measure: `${what}: fetched`, value: rate(drainMs), unit: '/s', aims: [{ of: 'value', atLeast: 500 }] },
    {
      measure: `${what}: in and out, each`,
      value: (enqueueMs + drainMs) / mails,
      unit: 'ms',
      floor: (small.enqueueMs + small.drainMs) / small.mails,
      aims: linear,
      note,
    },
  ];
}

/** To agents in the middle of a turn, from the first send until the last confirmed arrival. */
async function handedOver({ quick, progress }: MeasureOptions): Promise<Row[]> {
  const [recipients, each] = quick ? [4, 50] : [10, mailsEach];
  await using place = await makePlace();
  await place.startDaemon();
  await place.addRepository(10);
  const ids = await Promise.all(Array.from({ length: recipients }, () => liveAgent(place)));
  using deliveries = await followDeliveries(place.client);
  const mails = recipients * each;
  progress(`${mails} mails to ${recipients} live agents`);
  let next = 0;
  const sendNext = async (): Promise<void> => {
    for (let number = next++; number < mails; number = next++) {
      const to = ids[number % recipients] ?? '';
      await place.client.sendMail({ to, body: `This is mail ${number} of ${mails}.` }, randomUUID());
    }
  };
  const tookMs = await timed(async () => {
    await Promise.all(Array.from({ length: senders }, sendNext));
    await deliveries.count(mails);
  });
  return [
    {
      measure: `${mails.toLocaleString('en-US')} mails to ${recipients} live agents: delivered`,
      value: (mails / tookMs) * 1_000,
      unit: '/s',
      aims: [{ of: 'value', atLeast: 500 }],
      note: 'sending included',
    },
  ];
}
