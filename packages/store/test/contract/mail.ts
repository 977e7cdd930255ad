import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import { mailSchema } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { readEvents, recentEvents } from '@pawl/store/events';
import {
  countFetched,
  countPending,
  countUnread,
  findMail,
  insertMail,
  listMail,
  mailById,
  mailOfSession,
  recipientsWaiting,
  unreadDelivered,
  waitingMail,
} from '@pawl/store/mail/mail';
import { claimMail, markAcked, markDead, markDelivered, markRead, releaseMail } from '@pawl/store/mail/mail-marks';
import { mailbox, noteHinted, noteLooked, noteWake, wakesInLastHour } from '@pawl/store/mail/mailboxes';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { addTeam, agentRecord, fixedTime, range } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function mailRecord(from: Agent, to: Agent, fields: Partial<Mail> = {}): Mail {
  return {
    id: newId(),
    projectId: to.projectId,
    fromId: from.id,
    toId: to.id,
    kind: 'message',
    body: 'hello',
    bodyFile: null,
    bodyBytes: 5,
    questionId: null,
    createdAt: fixedTime,
    deliveredAt: null,
    readAt: null,
    ackedAt: null,
    channel: null,
    deadAt: null,
    deadReason: null,
    claimSessionId: null,
    attempts: 0,
    ...fields,
  };
}

/** Two related agents, and some mail from the first to the second. */
async function correspondence(engine: EngineUnderTest, mails = 1, options: { clock?: () => number } = {}) {
  const store = await openFresh(engine, options);
  const { agent: from, project } = await addTeam(store);
  const to = agentRecord({ projectId: project.id });
  await store.write((tx) => insertAgent(tx, to));
  const sent = range(1, mails).map((number) => mailRecord(from, to, { body: `mail ${number}` }));
  await addMail(store, ...sent);
  return { store, from, to, sent, mail: sent[0] as Mail };
}

async function addMail(store: Store, ...mails: Mail[]): Promise<void> {
  await store.write(async (tx) => {
    for (const mail of mails) await insertMail(tx, mail);
  });
}

const bodies = (mails: Mail[]) => mails.map(({ body }) => body);

/** The contract of mail, on every engine. */
export function mailContract(engine: EngineUnderTest): void {
  test('a mail round-trips with any text, by id or id prefix [S1-24]', async () => {
    const { store, from, to } = await correspondence(engine);
    const hostile = 'a \ud800 \u202e \u001b]52;c;eA==\u0007 😀 </mail> \r\n';
    const mail = mailRecord(from, to, { body: hostile, bodyFile: 'x.txt', questionId: newId(), kind: 'question' });
    await addMail(store, mail);
    expect(mailSchema.parse(await mailById(store.db, mail.id))).toEqual(mail);
    expect(await findMail(store.db, mail.id.slice(0, 8))).toEqual([mail]);
    for (const nobody of [newId(), mail.id.slice(0, 3), '%', '', '../x'])
      expect(await findMail(store.db, nobody)).toEqual([]);
    await expect(addMail(store, mail)).rejects.toMatchObject({ code: 'conflict' });
    await expect(addMail(store, mailRecord(from, agentRecord()))).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a mail only moves forward, each step once [S4-16, 7.5]', async () => {
    let now = fixedTime;
    const { store, mail } = await correspondence(engine, 1, { clock: () => now });
    const step = async (mark: typeof markRead) => {
      now += 1;
      return store.write((tx) => mark(tx, mail.id));
    };
    // Undelivered mail can be neither read nor acknowledged.
    expect(await step(markRead)).toBe(false);
    expect(await step(markAcked)).toBe(false);
    expect(await step((tx, id) => markDelivered(tx, id, 'live'))).toBe(true);
    expect(await step((tx, id) => markDelivered(tx, id, 'pull'))).toBe(false);
    expect(await step((tx, id) => markDead(tx, id, 'too late'))).toBe(false);
    expect(await step(markAcked)).toBe(true);
    expect(await step(markRead)).toBe(false);
    expect(await step(markAcked)).toBe(false);
    expect(await mailById(store.db, mail.id)).toEqual({
      ...mail,
      channel: 'live',
      deliveredAt: fixedTime + 3,
      readAt: fixedTime + 6,
      ackedAt: fixedTime + 6,
    });
  });

  test('a dead letter stays dead', async () => {
    const { store, mail } = await correspondence(engine);
    expect(await store.write((tx) => markDead(tx, mail.id, 'nobody there'))).toBe(true);
    expect(await store.write((tx) => markDead(tx, mail.id, 'again'))).toBe(false);
    expect(await store.write((tx) => markDelivered(tx, mail.id, 'pull'))).toBe(false);
    expect(await store.write((tx) => claimMail(tx, mail.id, { sessionId: newId(), channel: 'live' }))).toBe(false);
    expect(await mailById(store.db, mail.id)).toEqual({ ...mail, deadAt: fixedTime, deadReason: 'nobody there' });
    expect(await recipientsWaiting(store.db)).toEqual([]);
  });

  test('one of many claims succeeds; released mail keeps its position [S4-16]', async () => {
    const { store, to, sent, mail } = await correspondence(engine, 3);
    const sessions = range(1, 8).map(() => newId());
    const won = await Promise.all(
      sessions.map((id) => store.write((tx) => claimMail(tx, mail.id, { sessionId: id, channel: 'live' }))),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    const holder = sessions[won.indexOf(true)] ?? '';
    expect(bodies(await waitingMail(store.db, to.id, 10))).toEqual(['mail 2', 'mail 3']);
    expect(await countPending(store.db, to.id)).toBe(3);
    expect(await mailOfSession(store.db, holder)).toEqual([{ ...mail, claimSessionId: holder, channel: 'live' }]);
    expect(await mailOfSession(store.db, newId())).toEqual([]);
    await store.write((tx) => releaseMail(tx, mail.id, 1));
    expect(await waitingMail(store.db, to.id, 10)).toEqual([{ ...mail, attempts: 1 }, sent[1], sent[2]]);
    expect(await waitingMail(store.db, to.id, 2)).toHaveLength(2);
    await store.write((tx) => markDelivered(tx, mail.id, 'turn'));
    await store.write((tx) => releaseMail(tx, mail.id, 2));
    expect(await mailById(store.db, mail.id)).toMatchObject({ attempts: 1, channel: 'turn', claimSessionId: null });
  });

  test('mail is listed newest first, in pages, by recipient, sender and whether it was read [W1-20, W1-21]', async () => {
    const { store, from, to, sent } = await correspondence(engine, 5);
    const back = mailRecord(to, from, { body: 'an answer' });
    await addMail(store, back);
    expect(bodies(await listMail(store.db, { limit: 2 }))).toEqual(['an answer', 'mail 5']);
    const first = await listMail(store.db, { toId: to.id, limit: 2 });
    expect(bodies(first)).toEqual(['mail 5', 'mail 4']);
    const before = first[1]?.id ?? '';
    expect(bodies(await listMail(store.db, { toId: to.id, before, limit: 9 }))).toEqual(['mail 3', 'mail 2', 'mail 1']);
    expect(bodies(await listMail(store.db, { fromId: to.id, limit: 9 }))).toEqual(['an answer']);
    await store.write(async (tx) => {
      await markDelivered(tx, sent[0]?.id ?? '', 'pull');
      await markDelivered(tx, sent[1]?.id ?? '', 'pull');
      await markRead(tx, sent[1]?.id ?? '');
      await markDead(tx, sent[2]?.id ?? '', 'lost');
    });
    const unread = async (is: boolean) => bodies(await listMail(store.db, { toId: to.id, unread: is, limit: 9 }));
    expect(await unread(true)).toEqual(['mail 5', 'mail 4', 'mail 1']);
    expect(await unread(false)).toEqual(['mail 3', 'mail 2']);
    expect(await countUnread(store.db, to.id)).toBe(3);
    // The recipient confirms fetched mail; the session's output confirms delivered mail.
    expect(bodies(await unreadDelivered(store.db, to.id, 9))).toEqual([]);
    expect(await countFetched(store.db, to.id)).toBe(1);
    expect(await countPending(store.db, to.id)).toBe(2);
    expect((await recipientsWaiting(store.db)).toSorted()).toEqual([from.id, to.id].toSorted());
  });

  test('each mailbox has its own state, and wakes count for an hour [W1-22]', async () => {
    let now = fixedTime;
    const store = await openFresh(engine, { clock: () => now });
    const [id, another] = [newId(), newId()];
    expect(await mailbox(store.db, id)).toEqual({ agentId: id, hintedAt: null, lookedAt: null, wakes: [] });
    await store.write((tx) => noteHinted(tx, id));
    now += 5;
    await store.write((tx) => noteLooked(tx, id));
    await store.write((tx) => noteWake(tx, id));
    expect(await mailbox(store.db, id)).toEqual({ agentId: id, hintedAt: now - 5, lookedAt: now, wakes: [now] });
    expect((await mailbox(store.db, another)).lookedAt).toBeNull();
    now += 59 * 60_000;
    for (const _ of range(1, 3)) await store.write((tx) => noteWake(tx, id));
    expect(wakesInLastHour(await mailbox(store.db, id), now)).toBe(4);
    now += 60_000;
    expect(wakesInLastHour(await mailbox(store.db, id), now)).toBe(3);
    await store.write((tx) => noteWake(tx, id));
    expect((await mailbox(store.db, id)).wakes).toHaveLength(4);
    // A clock set back does not make past times future.
    expect(wakesInLastHour(await mailbox(store.db, id), now - 3 * 60 * 60_000)).toBe(0);
    await store.write(async (tx) => {
      for (const _ of range(1, limits.mailWakesPerHour + 5)) await noteWake(tx, id);
    });
    expect((await mailbox(store.db, id)).wakes).toHaveLength(limits.mailWakesPerHour);
  });

  test("an agent's followers see its sent and received mail, in order and once", async () => {
    const { store, from, to, mail } = await correspondence(engine);
    const third = agentRecord();
    await store.write((tx) => insertAgent(tx, third));
    const about = (agentId: string, peerId: string | null) =>
      ({ type: 'mail.read', agentId, peerId, data: { mailId: mail.id } }) as const;
    await store.write(async (tx) => {
      for (const [a, b] of [
        [from, to],
        [to, from],
        [to, third],
        [from, from],
        [third, from],
      ] as const)
        tx.emit(about(a.id, b.id));
      tx.emit(about(from.id, null));
    });
    const seqs = async (agentId: string) => {
      const log = (await readEvents(store.db, { afterSeq: 0, limit: 100, agentId })).map(({ seq }) => seq);
      expect((await recentEvents(store.db, { limit: 100, agentId })).map(({ seq }) => seq)).toEqual(log);
      return log;
    };
    expect(await seqs(from.id)).toEqual([1, 2, 4, 5, 6]);
    expect(await seqs(to.id)).toEqual([1, 2, 3]);
    expect(await seqs(third.id)).toEqual([3, 5]);
    const page = await readEvents(store.db, { afterSeq: 1, limit: 2, agentId: from.id });
    expect(page.map(({ seq, peerId }) => ({ seq, peerId }))).toEqual([
      { seq: 2, peerId: from.id },
      { seq: 4, peerId: from.id },
    ]);
    expect((await recentEvents(store.db, { limit: 2, agentId: from.id })).map(({ seq }) => seq)).toEqual([5, 6]);
  });
}
