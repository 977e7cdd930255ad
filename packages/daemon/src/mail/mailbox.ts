import { resolveAgent } from '@pawl/core/agents/resolve';
import type { FetchMailBody, MailList, MailView, SendMailBody } from '@pawl/protocol/view/mail';
import { openRepository } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById, findAgents } from '@pawl/store/agents/agents';
import { countUnread, findMail, mailById } from '@pawl/store/mail/mail';
import { mailbox, noteLooked } from '@pawl/store/mail/mailboxes';
import { projectByRoot } from '@pawl/store/projects/projects';
import { getSetting, setSetting } from '@pawl/store/settings';
import * as z from 'zod';
import { wholeBody } from './mail-body.ts';
import { noteAcked, noteDelivered, noteRead } from './marks.ts';
import type { Post } from './post.ts';
import { agentIn } from '../platform/places.ts';
import type { PageFilter } from './mailbox-page.ts';
import { pageOf } from './mailbox-page.ts';
import type { Sight } from './way.ts';
import { viewMails } from './mail-view.ts';
import { primaryFor } from './primary.ts';

/** Who asks: an agent, or a person, who has agent 0's mailbox and may look into all others. */
export type MailCaller = { agent: Agent; isPerson: boolean };

export type Mailboxes = ReturnType<typeof createMailboxes>;

/** What one fetch has listed, so that a number means the same mail until the next one. */
const orderKey = (agentId: string) => `mail_order:${agentId}`;
const orderSchema = z.array(z.string());
const isNumber = (reference: string) => /^[1-9]\d{0,2}$/.test(reference);

/** What can be done with mail, as its sender, its recipient, or somebody who looks on. */
export function createMailboxes(sight: Sight, post: Post) {
  const { platform } = sight;
  const { store } = platform;
  const { db } = store;

  /** Whom an agent means: somebody of its project first; a name that two projects know is no riddle to it. */
  async function find(caller: Agent, word: string): Promise<Agent> {
    if (word === 'parent' && caller.parentId !== null) {
      const parent = await agentById(db, caller.supervisorId ?? caller.parentId);
      if (parent !== null) return parent;
    }
    if (word === 'primary' && caller.projectId !== null) return primaryFor(db, caller);
    const own =
      caller.projectId === null ? [] : await findAgents(db, word, { projectId: caller.projectId, prefixOf: 'living' });
    const found = own.length > 0 ? own : await findAgents(db, word, { prefixOf: 'living' });
    // Of several dead ones with one name the last is meant: it is refused for being dead, not for being many.
    return resolveAgent(word, found.every(({ endedAt }) => endedAt !== null) ? found.slice(0, 1) : found);
  }

  async function projectFor(caller: MailCaller, path: string | undefined): Promise<string> {
    if (!caller.isPerson && caller.agent.projectId !== null && path === undefined) return caller.agent.projectId;
    if (path === undefined) {
      throw new PawlError('invalid_input', 'It is not said whose agents are meant.', {
        hint: 'Go to a repository, or name it with -C.',
      });
    }
    const { root } = await openRepository(path);
    const project = await projectByRoot(db, root);
    if (project === null) {
      throw new PawlError('project_not_found', `${root} is not a project yet.`, {
        hint: 'Run `pawl init` there first.',
      });
    }
    if (caller.isPerson || (await agentIn(db, caller.agent, project.id)) !== null) return project.id;
    throw new PawlError('forbidden', 'An agent writes to its own project only.');
  }

  /** The mail that is meant by its id, the start of it, or its number in what the caller fetched last. */
  async function mailFor(caller: MailCaller, reference: string): Promise<Mail> {
    const found = isNumber(reference) ? await numbered(caller, Number(reference)) : await findMail(db, reference);
    const [mail, ...others] = found.filter((each) => caller.isPerson || isSide(caller.agent, each));
    if (mail !== undefined && others.length === 0) return mail;
    const shown = JSON.stringify(reference.slice(0, 80));
    if (mail !== undefined) {
      throw new PawlError('ambiguous', `${shown} fits more than one mail.`, {
        hint: 'Give more characters of the id.',
      });
    }
    // That a whole id exists is known to whoever has it; of what begins alike nothing is told.
    if (found.some(({ id }) => id === reference)) throw strangersMail();
    throw new PawlError('not_found', `There is no mail ${shown}.`, {
      hint: 'See `pawl mail`; its id, the first 4 or more characters of it, or its number there will do.',
    });
  }

  async function numbered(caller: MailCaller, number: number): Promise<Mail[]> {
    const order = orderSchema.safeParse(await getSetting(db, orderKey(caller.agent.id)));
    const id = order.data?.[number - 1];
    const mail = id === undefined ? null : await mailById(db, id);
    return mail === null ? [] : [mail];
  }

  async function whole(id: string): Promise<MailView> {
    const mail = await mailById(db, id);
    const [view] = mail === null ? [] : await viewMails(sight, [mail]);
    if (mail === null || view === undefined) throw new PawlError('not_found', `There is no mail ${id}.`);
    return { ...view, body: await wholeBody(platform, mail), cut: false };
  }

  async function filterOf(of: Agent, { from, ...query }: FetchMailBody): Promise<PageFilter> {
    return { ...query, ...(from === undefined ? {} : { fromId: (await find(of, from)).id }) };
  }

  async function listed(of: Agent, mails: Mail[], next: string | null): Promise<MailList> {
    return {
      mailbox: { id: of.id, alias: of.alias },
      mails: await viewMails(sight, mails),
      unread: await countUnread(db, of.id),
      next,
    };
  }

  return {
    find,

    /** Takes in a mail from the caller: durable when this returns. */
    async send(caller: MailCaller, body: SendMailBody, key: string | undefined): Promise<MailView[]> {
      const from = caller.agent;
      if ('to' in body) {
        const to = await find(from, body.to);
        return viewMails(sight, [await post.send({ from, to, body: body.body, key })]);
      }
      const projectId = await projectFor(caller, body.path);
      return viewMails(sight, await post.sendToAll({ from, projectId, body: body.body, key }));
    },

    /** A mailbox as it is: nothing changes by looking. */
    async look(caller: MailCaller, query: FetchMailBody & { agent?: string | undefined }): Promise<MailList> {
      const of = query.agent === undefined ? caller.agent : await find(caller.agent, query.agent);
      if (!caller.isPerson && of.id !== caller.agent.id) {
        throw new PawlError('forbidden', 'An agent may look into its own mailbox only.');
      }
      const { mails, next } = await pageOf(db, of.id, await filterOf(of, query));
      return listed(of, mails, next);
    },

    /**
     * The caller's own mailbox. What waited there is delivered by this; what a session has in its hands is left to it,
     * since only that session's output shows whether it arrived.
     */
    async fetch(caller: MailCaller, query: FetchMailBody): Promise<MailList> {
      const { agent } = caller;
      const { mails, next } = await pageOf(db, agent.id, await filterOf(agent, query));
      const waiting = mails.filter(
        (mail) => mail.deliveredAt === null && mail.deadAt === null && mail.claimSessionId === null,
      );
      const { hintedAt, lookedAt } = await mailbox(db, agent.id);
      const order = mails.map(({ id }) => id);
      const sameOrder = JSON.stringify(await getSetting(db, orderKey(agent.id))) === JSON.stringify(order);
      const unseen = hintedAt !== null && (lookedAt === null || lookedAt <= hintedAt);
      if (waiting.length > 0 || unseen || !sameOrder) {
        await store.write(async (tx) => {
          for (const { id } of waiting) {
            const mail = await mailById(tx.db, id);
            if (mail !== null && mail.claimSessionId === null) await noteDelivered(tx, mail, 'pull');
          }
          await noteLooked(tx, agent.id);
          if (!sameOrder) await setSetting(tx, orderKey(agent.id), order);
        });
      }
      const after = await Promise.all(mails.map(async (mail) => (await mailById(db, mail.id)) ?? mail));
      return listed(agent, after, next);
    },

    /** All of a mail, as it is. */
    async show(caller: MailCaller, reference: string): Promise<MailView> {
      return whole((await mailFor(caller, reference)).id);
    },

    /** All of a mail; its recipient has read it by this, anybody else has only looked. */
    async read(caller: MailCaller, reference: string): Promise<MailView> {
      const { id, toId, readAt } = await mailFor(caller, reference);
      if (toId === caller.agent.id && readAt === null) {
        await store.write(async (tx) => {
          const mail = await mailById(tx.db, id);
          if (mail === null || mail.deadAt !== null) return;
          await noteDelivered(tx, mail, 'pull');
          await noteRead(tx, mail);
          await noteLooked(tx, toId);
        });
      }
      return whole(id);
    },

    /** Notes that a mail is dealt with. */
    async ack(caller: MailCaller, reference: string): Promise<MailView> {
      const known = await mailFor(caller, reference);
      if (known.toId !== caller.agent.id) throw strangersMail();
      if (known.deadAt !== null)
        throw new PawlError('conflict', 'This mail never arrived, so there is nothing to acknowledge.');
      await store.write(async (tx) => {
        const mail = await mailById(tx.db, known.id);
        if (mail !== null) await noteAcked(tx, mail);
      });
      return whole(known.id);
    },
  };
}

function isSide(agent: Agent, { fromId, toId }: Mail): boolean {
  return agent.id === fromId || agent.id === toId;
}

function strangersMail(): PawlError {
  return new PawlError('forbidden', 'This mail is somebody else’s.', {
    hint: 'Only its recipient says that a mail is dealt with.',
  });
}
