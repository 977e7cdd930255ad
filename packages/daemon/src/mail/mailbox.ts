import type { FetchMailBody, MailList, MailView, SendMailBody } from '@pawl/protocol/mail/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { mailById } from '@pawl/store/mail/mail';
import { noteLooked } from '@pawl/store/mail/mailboxes';
import { wholeBody } from './mail-body.ts';
import { fetchMail, filterOf, listed } from './mail-fetch.ts';
import type { MailCaller } from './mail-lookup.ts';
import { findRecipient, mailFor, projectFor, foreignMail } from './mail-lookup.ts';
import { viewMails } from './mail-view.ts';
import { pageOf } from './mailbox-page.ts';
import { noteAcked, noteDelivered, noteRead } from './receipts.ts';
import type { MailRoom } from './mail.ts';
import type { MailContext } from './choose-route.ts';

export type Mailboxes = ReturnType<typeof createMailboxes>;

/** Operations on mail for senders, recipients and observers. */
export function createMailboxes(context: MailContext, mailRoom: MailRoom) {
  const { store } = context.platform;
  const { db } = store;

  return {
    find: (caller: Agent, word: string) => findRecipient(db, caller, word),

    /** Sends a mail from the caller; durable when this returns. */
    async send(caller: MailCaller, body: SendMailBody, key: string | undefined): Promise<MailView[]> {
      const from = caller.agent;
      if ('to' in body) {
        const to = await findRecipient(db, from, body.to);
        return viewMails(context, [await mailRoom.send({ from, to, body: body.body, key })]);
      }
      const projectId = await projectFor(db, caller, body.path);
      return viewMails(context, await mailRoom.sendToAll({ from, projectId, body: body.body, key }));
    },

    /** Lists a mailbox without changing it. */
    async look(caller: MailCaller, query: FetchMailBody & { agent?: string | undefined }): Promise<MailList> {
      const of = query.agent === undefined ? caller.agent : await findRecipient(db, caller.agent, query.agent);
      if (!caller.isPerson && of.id !== caller.agent.id) {
        throw new PawlError('forbidden', 'Agents may only read their own mailbox.');
      }
      const { mails, next } = await pageOf(db, of.id, await filterOf(db, of, query));
      return listed(context, of, mails, next);
    },

    fetch: (caller: MailCaller, query: FetchMailBody) => fetchMail(context, caller, query),

    /** A whole mail, without marking it read. */
    async show(caller: MailCaller, reference: string): Promise<MailView> {
      return whole(context, (await mailFor(db, caller, reference)).id);
    },

    /** A whole mail; marks it read if the caller is its recipient. */
    async read(caller: MailCaller, reference: string): Promise<MailView> {
      const { id, toId, readAt } = await mailFor(db, caller, reference);
      if (toId === caller.agent.id && readAt === null) {
        await store.write(async (tx) => {
          const mail = await mailById(tx.db, id);
          if (mail === null || mail.deadAt !== null) return;
          await noteDelivered(tx, mail, 'pull');
          await noteRead(tx, mail);
          await noteLooked(tx, toId);
        });
      }
      return whole(context, id);
    },

    async ack(caller: MailCaller, reference: string): Promise<MailView> {
      const known = await mailFor(db, caller, reference);
      if (known.toId !== caller.agent.id) throw foreignMail();
      if (known.deadAt !== null)
        throw new PawlError('conflict', 'This mail never arrived, so there is nothing to acknowledge.');
      await store.write(async (tx) => {
        const mail = await mailById(tx.db, known.id);
        if (mail !== null) await noteAcked(tx, mail);
      });
      return whole(context, known.id);
    },
  };
}

/** A mail with its whole body. */
async function whole(context: MailContext, id: string): Promise<MailView> {
  const mail = await mailById(context.platform.store.db, id);
  const [view] = mail === null ? [] : await viewMails(context, [mail]);
  if (mail === null || view === undefined) throw new PawlError('not_found', `There is no mail ${id}.`);
  return { ...view, body: await wholeBody(context.platform, mail), cut: false };
}
