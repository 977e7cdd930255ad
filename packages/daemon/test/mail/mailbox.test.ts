import type { MailView } from '@pawl/protocol/mail/view';
import { limits } from '@pawl/schema/limit';
import { endurance } from '@pawl/testing/endurance';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { allEvents, send, statesOf } from '../support/mail.ts';
import type { RestingAgent } from '../support/resting-agents.ts';
import { restingAgents } from '../support/resting-agents.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** Idle agents that fetch their mail, each with its own client. */
const readers = (number: number) =>
  restingAgents(
    daemon.home,
    Array.from({ length: number }, () => ({})),
  );
/** Three of them, which is all that most tests need. */
const three = async () => (await readers(3)) as [RestingAgent, RestingAgent, RestingAgent];

const refused = (code: string) => expect.objectContaining({ code });
const bodies = ({ mails }: { mails: MailView[] }) => mails.map(({ body }) => body);

describe('sending [S1-25]', () => {
  test('an agent is the sender of what its token sends, and a person is agent 0', async () => {
    const [one, other] = await three();
    const { mails } = await one.client.sendMail({ to: other.alias, body: 'hello' }, randomUUID());
    expect(mails).toEqual([
      expect.objectContaining({
        from: { id: one.id, alias: one.alias },
        to: { id: other.id, alias: other.alias },
        status: 'pending',
        kind: 'message',
        detail: expect.stringMatching(/^queued: /),
      }),
    ]);
    const forged = { to: other.id, body: 'x', from: daemon.client } as never;
    await expect(one.client.sendMail(forged, randomUUID())).rejects.toEqual(refused('invalid_input'));
    const [byPerson] = (await daemon.client.sendMail({ to: other.id.slice(0, 8), body: 'hi' }, randomUUID())).mails;
    expect(byPerson?.from.alias).toBe('root');
    const sender = await one.client.showMail(mails[0]?.id ?? '');
    expect(sender.mail.status).toBe('pending');
    await one.client.sendMail({ to: 'parent', body: 'to whoever looks after me' }, randomUUID());
    expect(bodies(await daemon.client.listMail({ from: one.id }))).toEqual(['to whoever looks after me']);
  });

  test('a repeated request is done once, in sequence and concurrently; from another sender it is another request', async () => {
    const [one, two, to] = await three();
    const key = randomUUID();
    const ids = await Promise.all(Array.from({ length: 5 }, () => send(one.client, to.id, 'once', key)));
    expect(new Set([...ids, await send(one.client, to.id, 'once', key)]).size).toBe(1);
    expect(await send(two.client, to.id, 'once', key)).not.toBe(ids[0]);
    expect((await to.client.fetchMail()).mails).toHaveLength(2);
  });

  test('--all reaches every living main of the project except the sender, once each [S4-17, W4-05]', async () => {
    const [one, two, dead] = await three();
    const [sub] = await restingAgents(daemon.home, [{ kind: 'subagent' }]);
    await daemon.client.killAgent(dead.id, {});
    const { agents } = await daemon.client.listAgents();
    const mains = agents.filter(({ kind }) => kind === 'main').map(({ id }) => id);
    const key = randomUUID();
    const { mails } = await one.client.sendMail({ all: true, body: 'all hands' }, key);
    const expected = mains.filter((id) => id !== one.id).toSorted();
    expect(mails.map(({ to }) => to.id).toSorted()).toEqual(expected);
    expect(expected).toContain(two.id);
    expect(expected).not.toContain(dead.id);
    expect((await one.client.sendMail({ all: true, body: 'all hands' }, key)).mails).toHaveLength(mails.length);
    const again = await daemon.client.sendMail({ all: true, path: daemon.repository, body: 'mine' }, randomUUID());
    expect(again.mails.map(({ to }) => to.id).toSorted()).toEqual(mains.toSorted());
    await expect(daemon.client.sendMail({ all: true, body: 'where?' }, randomUUID())).rejects.toEqual(
      refused('invalid_input'),
    );
    await expect(sub?.client.sendMail({ all: true, body: 'x' }, randomUUID())).rejects.toEqual(refused('forbidden'));
    expect((await sub?.client.listMail())?.mails).toEqual([]);
  });

  test('unknown, ambiguous and dead recipients and invalid texts are refused, each for its own reason [W1-19]', async () => {
    const [one, dead] = await three();
    await daemon.client.killAgent(dead.id, {});
    const attempt = (to: string, body: string) => one.client.sendMail({ to, body }, randomUUID());
    await expect(attempt('no-such-agent', 'x')).rejects.toEqual(refused('agent_not_found'));
    await expect(attempt(dead.id, 'x')).rejects.toEqual(refused('conflict'));
    await expect(attempt(dead.alias, 'x')).rejects.toThrow(/is dead/);
    await expect(attempt(one.id, 'x')).rejects.toEqual(refused('invalid_input'));
    for (const body of ['', '  \n', 'a\0b'])
      await expect(attempt('root', body)).rejects.toEqual(refused('invalid_input'));
    await expect(attempt('root', 'x'.repeat(limits.mailSpillBytes + 1))).rejects.toEqual(refused('too_large'));
    expect(await one.client.listMail({ agent: one.id })).toMatchObject({ mails: [] });
  });

  test('a long mail is a file beside its row, whole for readers, and private [7.5]', async () => {
    const [one, to] = await three();
    const longest = 'é'.repeat(2_047) + 'x';
    const short = await send(one.client, to.id, longest);
    const text = `${'ä'.repeat(limits.mailBytes)} end`;
    const long = await send(one.client, to.id, text);
    const { mails } = await to.client.fetchMail();
    const [second, first] = mails;
    expect(first).toMatchObject({ id: short, body: longest, cut: false, bodyBytes: limits.mailBytes });
    expect(second).toMatchObject({ id: long, cut: true, bodyBytes: Buffer.byteLength(text) });
    expect(Buffer.byteLength(second?.body ?? '')).toBeLessThan(limits.mailBytes);
    expect((await to.client.readMail(long)).mail).toMatchObject({ body: text, cut: false, status: 'read' });
    expect(readdirSync(daemon.home.mail)).toContain(`${long}.txt`);
    expect(readFileSync(join(daemon.home.mail, `${long}.txt`), 'utf8')).toBe(text);
  });
});

describe('the mailbox [S1-07, S1-26, S1-28]', () => {
  test('unread first, then newest first, in pages; a number refers to the last listing [W1-20]', async () => {
    const [one, to] = await three();
    for (const number of [1, 2, 3, 4, 5]) await send(one.client, to.id, `mail ${number}`);
    expect(bodies(await to.client.fetchMail())).toEqual(['mail 5', 'mail 4', 'mail 3', 'mail 2', 'mail 1']);
    expect((await to.client.readMail('1')).mail.body).toBe('mail 5');
    // A read mail moved down meanwhile, but the numbers are those of the listing.
    expect((await to.client.readMail('3')).mail.body).toBe('mail 3');
    const pages: string[] = [];
    let before: string | undefined;
    do {
      const page = await to.client.fetchMail({ limit: 2, ...(before === undefined ? {} : { before }) });
      expect(page.unread).toBe(3);
      pages.push(...bodies(page));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(pages).toEqual(['mail 4', 'mail 2', 'mail 1', 'mail 5', 'mail 3']);
    expect(bodies(await to.client.fetchMail({ unread: true }))).toEqual(['mail 4', 'mail 2', 'mail 1']);
    await expect(to.client.readMail('9')).rejects.toEqual(refused('not_found'));
  });

  test('by sender [W1-21]', async () => {
    const [one, two, to] = await three();
    await send(one.client, to.id, 'from one');
    await send(two.client, to.id, 'from two');
    expect(bodies(await to.client.fetchMail({ from: two.alias }))).toEqual(['from two']);
    await expect(to.client.fetchMail({ from: 'nobody' })).rejects.toEqual(refused('agent_not_found'));
  });

  test('fetching delivers, reading reads, acknowledging ends it: forward only, each once, with its event [S1-27, S4-16]', async () => {
    const [one, to] = await three();
    const id = await send(one.client, to.id, 'hello');
    // Observers change nothing: neither the person, nor the sender, nor a plain listing.
    await daemon.client.listMail({ agent: to.id });
    await daemon.client.readMail(id);
    await one.client.readMail(id);
    await to.client.listMail();
    expect(await statesOf(daemon.client, id)).toEqual(['sent']);
    const [fetched] = (await to.client.fetchMail()).mails;
    expect(fetched).toMatchObject({ status: 'delivered', channel: 'pull', detail: '' });
    await to.client.fetchMail();
    expect((await to.client.readMail(id)).mail.status).toBe('read');
    await to.client.readMail(id);
    const { mail: acked } = await to.client.ackMail(id);
    expect(acked.status).toBe('acked');
    expect((await to.client.ackMail(id)).mail).toEqual(acked);
    await to.client.fetchMail();
    await to.client.readMail(id);
    expect(await statesOf(daemon.client, id)).toEqual(['sent', 'delivered', 'read', 'acked']);
    // The sender sees each step.
    const heard = (await one.client.events({ agent: one.id })).events.filter(({ data }) => data['mailId'] === id);
    expect(heard.map(({ type }) => type)).toEqual(['mail.sent', 'mail.delivered', 'mail.read', 'mail.acked']);
  });

  test('reading or acknowledging an undelivered mail also delivers it [7.5]', async () => {
    const [one, to] = await three();
    const [read, acked] = [await send(one.client, to.id, 'a'), await send(one.client, to.id, 'b')];
    await to.client.readMail(read.slice(0, 6));
    await to.client.ackMail(acked);
    expect(await statesOf(daemon.client, read)).toEqual(['sent', 'delivered', 'read']);
    expect(await statesOf(daemon.client, acked)).toEqual(['sent', 'delivered', 'read', 'acked']);
  });

  test('no agent reads, lists or acknowledges another’s mail, and no person acknowledges an agent’s [fault 48]', async () => {
    const [one, to, stranger] = await three();
    const id = await send(one.client, to.id, 'for your eyes');
    for (const attempt of [
      () => stranger.client.showMail(id),
      () => stranger.client.readMail(id),
      () => stranger.client.ackMail(id),
      () => one.client.ackMail(id),
      () => daemon.client.ackMail(id),
      () => stranger.client.listMail({ agent: to.id }),
      () => one.client.listMail({ agent: to.alias }),
    ]) {
      await expect(attempt()).rejects.toEqual(refused('forbidden'));
    }
    await expect(stranger.client.showMail(id.slice(0, 8))).rejects.toEqual(refused('not_found'));
    expect(await statesOf(daemon.client, id)).toEqual(['sent']);
    const toPerson = await send(one.client, 'root', 'for the person');
    await expect(to.client.ackMail(toPerson)).rejects.toEqual(refused('forbidden'));
    expect((await daemon.client.ackMail(toPerson)).mail.status).toBe('acked');
    expect((await daemon.client.listMail({ agent: to.id })).mails).toHaveLength(1);
  });

  test('the response tells what is known of an inactive recipient', async () => {
    const busy = await daemon.work([{ say: 'standing by' }, 'hang']);
    await daemon.client.stopAgent(busy.id);
    const [mail] = (await daemon.client.sendMail({ to: busy.id, body: 'later' }, randomUUID())).mails;
    expect(mail).toMatchObject({
      status: 'pending',
      detail: `queued: ${busy.alias} was stopped; it is delivered when it resumes`,
    });
    await daemon.client.killAgent(busy.id, {});
    await waitUntil(async () => (await daemon.client.showMail(mail?.id ?? '')).mail.dead !== null, {
      what: 'a dead letter',
    });
    const { mail: dead } = await daemon.client.showMail(mail?.id ?? '');
    expect(dead).toMatchObject({ status: 'pending', detail: expect.stringContaining('never arrive') });
    await expect(daemon.client.ackMail(dead.id)).rejects.toEqual(refused('forbidden'));
  });
});

describe('many at once [fault 25]', () => {
  const bursts = [5, endurance({ whole: 50, small: 15 })];
  test(`${bursts.map((each) => 10 * each).join(' and ')} sends by ten senders to two that fetch: each arrives once, at the right one, in its sender’s order`, async () => {
    const senders = await readers(10);
    const [left, right] = await three();
    const sent = new Map<string, string>();
    for (const each of bursts) {
      await Promise.all(
        senders.map(async (sender) => {
          for (let number = 0; number < each; number++) {
            const to = (number + senders.indexOf(sender)) % 2 === 0 ? left : right;
            sent.set(
              await send(sender.client, to.id, `${sender.id} ${each} ${String(number).padStart(3, '0')}`),
              to.id,
            );
          }
        }),
      );
    }
    expect(sent.size).toBe(bursts.reduce((sum, each) => sum + 10 * each, 0));
    for (const to of [left, right]) {
      const got: MailView[] = [];
      // Several of its processes fetch at once, as an impatient agent's would.
      let page = (await Promise.all([1, 2, 3].map(() => to.client.fetchMail({ limit: limits.mailPageRows }))))[0];
      for (;;) {
        got.push(...(page?.mails ?? []));
        if (typeof page?.next !== 'string') break;
        page = await to.client.fetchMail({ limit: limits.mailPageRows, before: page.next });
      }
      expect(got.map(({ id }) => id).toSorted()).toEqual(
        [...sent]
          .filter(([, id]) => id === to.id)
          .map(([id]) => id)
          .toSorted(),
      );
      for (const sender of senders) {
        const mine = got
          .filter(({ from }) => from.id === sender.id)
          .map(({ body }) => body)
          .toReversed();
        const rounds = bursts.flatMap((each) => mine.filter((body) => body.split(' ')[1] === String(each)));
        expect(mine).toEqual(rounds);
        for (const each of bursts) {
          const round = mine.filter((body) => body.split(' ')[1] === String(each));
          expect(round).toEqual(round.toSorted());
        }
      }
    }
    const delivered = (await allEvents(daemon.client)).filter(
      ({ type, data }) => type === 'mail.delivered' && sent.has(String(data['mailId'])),
    );
    expect(delivered).toHaveLength(sent.size);
  });
});
