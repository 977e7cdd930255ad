import type { Waited, WaitMailBody } from '@pawl/protocol/mail/view';
import { PawlError } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { mailById, mailsByIds, oldestUnread, waitingMail } from '@pawl/store/mail/mail';
import { noteDelivered } from './receipts.ts';
import { wholeBody } from './mail-body.ts';
import type { MailRoom } from './mail.ts';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';
import type { MailContext } from './choose-route.ts';
import { chooseRoute } from './choose-route.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { viewMails } from './mail-view.ts';
import type { Mailboxes } from './mailbox.ts';

/** The state of an agent that is waited for. */
type Found = { agent: Agent; state: Waited['agents'][number]['state']; mail: Mail | null; resolved: boolean };

/** Interval of checks, in case a wake was lost. */
const lookMs = 1_000;

const printPollMs = 50;

export type MailWaits = { wait(caller: Agent, body: WaitMailBody, signal: AbortSignal): Promise<Waited> };

/** Lets callers wait for mail, each woken by the events that concern it. */
export function createMailWaits(
  context: MailContext,
  mailboxes: Pick<Mailboxes, 'find'>,
  mailRoom: Pick<MailRoom, 'waiters'>,
): MailWaits {
  const { store } = context.platform;
  const waiters = new Set<{ concerns: ReadonlySet<string>; wakes: Wakeable }>();
  store.onCommit(({ events }) => {
    if (waiters.size === 0 || events.length === 0) return;
    const about = [...new Set(events.flatMap(concernedBy))];
    for (const { concerns, wakes } of waiters) if (about.some((id) => concerns.has(id))) wakes.wake();
  });

  return {
    async wait(caller, { timeoutMs, agents: words }, signal) {
      if (waiters.size >= limits.mailWaits) {
        throw new PawlError('busy', `${limits.mailWaits} callers wait for mail.`, { hint: 'Try again later.' });
      }
      const agents: Agent[] = [];
      for (const word of words ?? []) {
        const agent = await mailboxes.find(caller, word);
        if (!agents.some(({ id }) => id === agent.id)) agents.push(agent);
      }
      const deadline = performance.now() + timeoutMs;
      const waiter = { concerns: new Set([caller.id, ...agents.map(({ id }) => id)]), wakes: createWakeable() };
      waiters.add(waiter);
      const leave = mailRoom.waiters.begin(caller.id);
      let given: Pick<Waited, 'mails'> = { mails: [] };
      try {
        for (;;) {
          const version = waiter.wakes.version();
          const found =
            words === undefined
              ? await next(context, caller)
              : await Promise.all(agents.map((agent) => check(context, caller, agent)));
          const done = found.every(({ resolved }) => resolved);
          const leftMs = deadline - performance.now();
          if (signal.aborted) throw gone();
          if (done || leftMs <= 0) {
            const handed = await handOut(context, caller, found);
            given = handed;
            return { done, ...handed, agents: words === undefined ? [] : found.map(stateOf) };
          }
          await waiter.wakes.wait(version, Math.min(leftMs, lookMs), signal).catch((error: unknown) => {
            throw signal.aborted ? gone() : error;
          });
        }
      } finally {
        waiters.delete(waiter);
        void printed(context, caller, given)
          .catch(() => undefined)
          .finally(leave);
      }
    },
  };
}

/** The oldest unread mail from anyone. */
async function next({ platform: { store } }: MailContext, caller: Agent): Promise<Found[]> {
  const mail = await oldestUnread(store.db, caller.id);
  return [{ agent: caller, state: mail === null ? 'running' : 'received', mail, resolved: mail !== null }];
}

/** The state of an agent, and its mail. Reads the state first, so that mail sent before it came to rest is seen. */
async function check(context: MailContext, caller: Agent, agent: Agent): Promise<Found> {
  const { store } = context.platform;
  const facts = await agentView(store.db, agent.id);
  if (facts === null) return { agent, state: 'dead', mail: null, resolved: true };
  const waiting = await waitingMail(store.db, agent.id, limits.mailPerTurn);
  const route = waiting.length === 0 ? { kind: 'wait' } : await chooseRoute(context, store.db, facts, waiting);
  const mail = await oldestUnread(store.db, caller.id, agent.id);
  if (mail !== null) return { agent, state: 'received', mail, resolved: true };
  if (facts.agent.endedAt !== null) return { agent, state: 'dead', mail, resolved: true };
  const works = facts.run !== null && facts.run.outcome === null;
  // An idle agent that mail is about to wake may still answer.
  return { agent, state: works ? 'running' : 'idle', mail, resolved: !works && route.kind === 'wait' };
}

/**
 * Marks returned mail delivered. Only the caller can mark it read, since it may never receive this. Mail in the
 * caller's running turn is only named, not shown twice.
 */
async function handOut(
  context: MailContext,
  caller: Agent,
  found: readonly Found[],
): Promise<Pick<Waited, 'mails' | 'shown'>> {
  const { platform } = context;
  const { store } = platform;
  const session = (await agentView(store.db, caller.id))?.session ?? null;
  const came = found.flatMap(({ mail }) => (mail === null ? [] : [mail]));
  const shown = came.filter((mail) => isInTurn(mail, session));
  const mails = came.filter((mail) => !isInTurn(mail, session));
  if (mails.some(({ deliveredAt }) => deliveredAt === null)) {
    await store.write(async (tx) => {
      for (const { id } of mails) {
        const mail = await mailById(tx.db, id);
        if (mail !== null && mail.claimSessionId === null) await noteDelivered(tx, mail, 'pull');
      }
    });
  }
  const looked = await Promise.all(mails.map(async (mail) => (await mailById(store.db, mail.id)) ?? mail));
  // Mail claimed for a session comes with its input, so do not return it as well.
  const now = looked.filter((mail) => mail.claimSessionId === null);
  const views = await viewMails(context, now);
  const whole = views.map(async (view, index) => {
    const mail = now[index];
    return mail === undefined ? view : { ...view, body: await wholeBody(platform, mail), cut: false };
  });
  return { mails: await Promise.all(whole), shown: shown.map(({ id }) => id) };
}

/**
 * Waits briefly until the caller has printed its mail and its tool call has ended, so that later mail is not written
 * to its input before that.
 */
async function printed(
  { platform, reconciler }: MailContext,
  caller: Agent,
  { mails }: Pick<Waited, 'mails'>,
): Promise<void> {
  const ids = mails.map(({ id }) => id);
  const deadline = performance.now() + limits.mailPrintMs;
  while (ids.length > 0 && reconciler.ingest.isInTurn(caller.id) && performance.now() < deadline) {
    const isRead = (await mailsByIds(platform.store.db, ids)).every(({ readAt }) => readAt !== null);
    if (isRead && reconciler.ingest.turn(caller.id).tools.length === 0) return;
    await delay(printPollMs, undefined, { ref: false });
  }
}

/** True if the running session has shown a mail to the agent. How much an earlier session read is unknown. */
function isInTurn({ deliveredAt, channel }: Mail, session: Session | null): boolean {
  if (deliveredAt === null || channel === 'pull' || session === null || session.endedAt !== null) return false;
  return session.startedAt !== null && deliveredAt >= session.startedAt;
}

/** The caller has disconnected, so nothing is handed out. */
function gone(): PawlError {
  return new PawlError('timeout', 'The waiting caller disconnected.');
}

function stateOf({ agent, state, mail }: Found): Waited['agents'][number] {
  return { id: agent.id, alias: agent.alias, state, mailId: mail?.id ?? null };
}

/** The agents that an event concerns; a kill may concern many. */
function concernedBy({ agentId, type, data }: Event): string[] {
  const killed =
    (type === 'agent.killed' || type === 'agent.ended') && Array.isArray(data['agents']) ? data['agents'] : [];
  return [agentId, ...killed].filter((id) => typeof id === 'string');
}
