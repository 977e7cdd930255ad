import type { FetchMailBody, MailList } from '@pawl/protocol/mail/view';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { countUnread, mailById } from '@pawl/store/mail/mail';
import { mailbox, noteLooked } from '@pawl/store/mail/mailboxes';
import type { Database } from '@pawl/store/tables';
import type { MailCaller } from './mail-lookup.ts';
import { findRecipient, mailOrders } from './mail-lookup.ts';
import { viewMails } from './mail-view.ts';
import type { PageFilter } from './mailbox-page.ts';
import { pageOf } from './mailbox-page.ts';
import { noteDelivered } from './receipts.ts';
import type { MailContext } from './choose-route.ts';

/**
 * Fetches the caller's mailbox and marks waiting mail delivered. Skips mail claimed for a session, since only that
 * session's output proves its delivery.
 */
export async function fetchMail(context: MailContext, { agent }: MailCaller, query: FetchMailBody): Promise<MailList> {
  const { store } = context.platform;
  const { db } = store;
  const { mails, next } = await pageOf(db, agent.id, await filterOf(db, agent, query));
  const waiting = mails.filter(
    (mail) => mail.deliveredAt === null && mail.deadAt === null && mail.claimSessionId === null,
  );
  const { hintedAt, lookedAt } = await mailbox(db, agent.id);
  const order = mails.map(({ id }) => id);
  const known = await mailOrders.get(db, { agentId: agent.id });
  const sameOrder = JSON.stringify(known?.mailIds) === JSON.stringify(order);
  const unseen = hintedAt !== null && (lookedAt === null || lookedAt <= hintedAt);
  if (waiting.length > 0 || unseen || !sameOrder) {
    await store.write(async (tx) => {
      for (const { id } of waiting) {
        const mail = await mailById(tx.db, id);
        if (mail !== null && mail.claimSessionId === null) await noteDelivered(tx, mail, 'pull');
      }
      await noteLooked(tx, agent.id);
      if (!sameOrder) await mailOrders.set(tx, { agentId: agent.id, mailIds: order });
    });
  }
  const after = await Promise.all(mails.map(async (mail) => (await mailById(db, mail.id)) ?? mail));
  return listed(context, agent, after, next);
}

/** Converts a query into a page filter. */
export async function filterOf(db: Database, of: Agent, { from, ...query }: FetchMailBody): Promise<PageFilter> {
  return { ...query, ...(from === undefined ? {} : { fromId: (await findRecipient(db, of, from)).id }) };
}

/** A page of a mailbox for display. */
export async function listed(context: MailContext, of: Agent, mails: Mail[], next: string | null): Promise<MailList> {
  return {
    mailbox: { id: of.id, alias: of.alias },
    mails: await viewMails(context, mails),
    unread: await countUnread(context.platform.store.db, of.id),
    next,
  };
}
