import { everybody } from '@pawl/core/mail/mail';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { livingMains } from '@pawl/store/agents/family';
import { countPending, mailById } from '@pawl/store/mail/mail';
import type { Database } from '@pawl/store/tables';
import { idempotencyKeys } from '../platform/idempotency.ts';
import type { LiveSessions } from './live-sessions.ts';
import { correspondent } from '../platform/places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { startDelivery } from './delivery.ts';
import { storeBody } from './mail-body.ts';
import { recordMail } from './mail-record.ts';
import type { Waiters } from './waiters.ts';
import { createWaiters } from './waiters.ts';

/** Accepts and delivers mail. */
export type MailRoom = {
  /** Sends a mail; resolves when it is durable. */
  send(request: { from: Agent; to: Agent; body: string; key?: string | undefined }): Promise<Mail>;
  /** Sends a mail to every living main of a project except the sender: one row each. */
  sendToAll(request: { from: Agent; projectId: string; body: string; key?: string | undefined }): Promise<Mail[]>;
  /** Agents that wait for mail in a command; meanwhile their mail is not delivered otherwise. */
  waiters: Waiters;
  /** Delivers to all agents with waiting mail, in case wakes were lost. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** How many sends to one recipient are allowed between two counts of its waiting mail. */
const sendsPerCount = 1_000;

export function openMail(platform: DefinitionPlatform, reconciler: LiveSessions): MailRoom {
  const { store } = platform;
  const waiters = createWaiters((agentId) => delivery.wake(agentId));
  const delivery = startDelivery(platform, reconciler, waiters);
  const sentTo = new Map<string, number>();

  async function sentBefore(db: Database, key: string | undefined): Promise<Mail[] | null> {
    if (key === undefined) return null;
    const ids = (await idempotencyKeys.get(db, { key }))?.mailIds ?? null;
    if (ids === null) return null;
    const mails = await Promise.all(ids.map((id) => mailById(db, id)));
    return mails.filter((mail) => mail !== null);
  }

  /** Refuses mail to a recipient with too much waiting. Counting is slow there, so it happens only now and then. */
  async function checkRoom(to: Agent): Promise<void> {
    const sent = (sentTo.get(to.id) ?? 0) + 1;
    sentTo.set(to.id, sent);
    if (sent % sendsPerCount !== 1 || (await countPending(store.db, to.id)) < limits.pendingMail) return;
    // Count again with the next one.
    sentTo.set(to.id, 0);
    throw new PawlError('busy', `${limits.pendingMail} mails wait for ${to.alias} already.`, {
      hint: 'Let it read them first, or kill it.',
    });
  }

  async function take(from: Agent, recipients: Agent[], body: string, key: string | undefined): Promise<Mail[]> {
    const before = await sentBefore(store.db, key);
    if (before !== null) return before;
    for (const to of recipients) await checkRoom(to);
    const bodies = await Promise.all(recipients.map(() => storeBody(platform, body)));
    const mails = await store.write(async (tx) => {
      // Check again inside the transaction: the same request may have come twice at once.
      const meanwhile = await sentBefore(tx.db, key);
      if (meanwhile !== null) return meanwhile;
      const sent: Mail[] = [];
      for (const [index, to] of recipients.entries()) {
        const stored = bodies[index];
        if (stored !== undefined) sent.push(await recordMail(tx, { from, to, kind: 'message' }, stored));
      }
      const mailIds = sent.map(({ id }) => id);
      if (key !== undefined) await idempotencyKeys.set(tx, { key, id: null, mailIds });
      return sent;
    });
    // Delivery learns of it by its event.
    crashPoint('mail.after_record');
    return mails;
  }

  return {
    async send({ from, to, body, key }) {
      const [mail] = await take(from, [to], body, key);
      if (mail === undefined) throw new PawlError('internal', 'A mail that was sent earlier is missing.');
      return mail;
    },
    async sendToAll({ from, projectId, body, key }) {
      const mains = await livingMains(store.db, projectId);
      const others = await Promise.all(mains.map((agent) => correspondent(store.db, agent)));
      return take(from, everybody(await correspondent(store.db, from), others), body, key);
    },
    waiters,
    sweep: delivery.sweep,
    close: delivery.close,
  };
}
