import type { FetchMailBody, MailList, MailView, SendMailBody } from '@pawl/protocol/mail/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { mailById } from '@pawl/store/mail/mail';
import { noteLooked } from '@pawl/store/mail/mailboxes';
import { wholeBody } from './mail-body.ts';
import { fetchMail, filterOf, listed } from './mail-fetch.ts';
import type { MailCaller } from './mail-lookup.ts';
import { findRecipient, mailFor, projectFor, strangersMail } from './mail-lookup.ts';
import { viewMails } from './mail-view.ts';
import { pageOf } from './mailbox-page.ts';
import { noteAcked, noteDelivered, noteRead } from './marks.ts';
import type { Post } from './post.ts';
import type { Sight } from './way.ts';

export type Mailboxes = ReturnType<typeof createMailboxes>;

/** What can be done with mail, as its sender, its recipient, or somebody who looks on. */
export function createMailboxes(sight: Sight, post: Post) {
  const { store } = sight.platform;
  const { db } = store;

  return {
    find: (caller: Agent, word: string) => findRecipient(db, caller, word),

    /** Takes in a mail from the caller: durable when this returns. */
    async send(caller: MailCaller, body: SendMailBody, key: string | undefined): Promise<MailView[]> {
      const from = caller.agent;
      if ('to' in body) {
        const to = await findRecipient(db, from, body.to);
        return viewMails(sight, [await post.send({ from, to, body: body.body, key })]);
      }
      const projectId = await projectFor(db, caller, body.path);
      return viewMails(sight, await post.sendToAll({ from, projectId, body: body.body, key }));
    },

    /** A mailbox as it is: nothing changes by looking. */
    async look(caller: MailCaller, query: FetchMailBody & { agent?: string | undefined }): Promise<MailList> {
      const of = query.agent === undefined ? caller.agent : await findRecipient(db, caller.agent, query.agent);
      if (!caller.isPerson && of.id !== caller.agent.id) {
        throw new PawlError('forbidden', 'An agent may look into its own mailbox only.');
      }
      const { mails, next } = await pageOf(db, of.id, await filterOf(db, of, query));
      return listed(sight, of, mails, next);
    },

    fetch: (caller: MailCaller, query: FetchMailBody) => fetchMail(sight, caller, query),

    /** All of a mail, as it is. */
    async show(caller: MailCaller, reference: string): Promise<MailView> {
      return whole(sight, (await mailFor(db, caller, reference)).id);
    },

    /** All of a mail; its recipient has read it by this, anybody else has only looked. */
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
      return whole(sight, id);
    },

    /** Notes that a mail is dealt with. */
    async ack(caller: MailCaller, reference: string): Promise<MailView> {
      const known = await mailFor(db, caller, reference);
      if (known.toId !== caller.agent.id) throw strangersMail();
      if (known.deadAt !== null)
        throw new PawlError('conflict', 'This mail never arrived, so there is nothing to acknowledge.');
      await store.write(async (tx) => {
        const mail = await mailById(tx.db, known.id);
        if (mail !== null) await noteAcked(tx, mail);
      });
      return whole(sight, known.id);
    },
  };
}

/** All of a mail, with its whole body. */
async function whole(sight: Sight, id: string): Promise<MailView> {
  const mail = await mailById(sight.platform.store.db, id);
  const [view] = mail === null ? [] : await viewMails(sight, [mail]);
  if (mail === null || view === undefined) throw new PawlError('not_found', `There is no mail ${id}.`);
  return { ...view, body: await wholeBody(sight.platform, mail), cut: false };
}
