import { taskOfMail } from '@pawl/core/prompts/turn-task';
import { runOf } from '@pawl/core/sessions/run';
import { crashPoint } from '@pawl/schema/crash-point';
import { newId } from '@pawl/schema/id';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { mailOfSession, waitingMail, wakingMail } from '@pawl/store/mail/mail';
import { noteWake } from '@pawl/store/mail/mailboxes';
import { appendMessage } from '@pawl/store/sessions/messages';
import { insertRun } from '@pawl/store/sessions/runs';
import { projectIfAny } from '../platform/places.ts';
import { retakeTask } from '../tasks/tasks.ts';
import type { Accepted } from './hand-over.ts';
import { handOverLive } from './hand-over.ts';
import { noteDead } from './receipts.ts';
import { taskFromMail } from './person-mail.ts';
import type { Waiters } from './waiters.ts';
import type { MailContext } from './choose-route.ts';
import { chooseRoute } from './choose-route.ts';

/** Collaborators and caches of delivery. */
export type DeliveryContext = MailContext & {
  waiters: Waiters;
  /** Agents whose process holds as much mail as it may; it gets more once its output shows some of it. */
  full: Set<string>;
  /** For each agent, the session that was checked for mail an earlier daemon left undelivered. */
  recovered: Map<string, string>;
  /** Schedules a delivery to an agent. */
  wake(agentId: string): void;
};

/** How many waiting mails one pass considers, or dead-letters in one transaction. */
const batchLimit = 64;

/** When to retry a process that did not read its input. */
const retryMs = 2_000;

/** Delivers the mail of an agent that can be delivered, or starts a turn for it. Call it in the agent's lane. */
export async function deliver(context: DeliveryContext, agentId: string): Promise<void> {
  const { platform, waiters, full } = context;
  const { db } = platform.store;
  const facts = await agentView(db, agentId);
  if (facts === null) return;
  full.delete(agentId);
  if (waiters.has(agentId) && facts.agent.endedAt === null) return;
  // If not even a question could be delivered now, nothing can, so the mail need not be read.
  if ((await chooseRoute(context, db, facts, [{ kind: 'question', fromId: '' }])).kind === 'wait') return;
  const waiting = await waitingMail(db, agentId, batchLimit);
  if (waiting.length === 0 && !(await hasLeftovers(context, facts.session))) return;
  const route = await chooseRoute(context, db, facts, await decidingMail(context, agentId, waiting));
  switch (route.kind) {
    case 'dead':
      await deadLetter(context, waiting, route.why);
      if (waiting.length === batchLimit) context.wake(agentId);
      return;
    case 'live':
      if (facts.session !== null) await handOver(context, facts.agent, facts.session);
      return;
    case 'wake':
      return beginTurn(context, facts.agent);
    case 'wait':
      return;
  }
}

/**
 * Writes to a process what it accepts. The agent counts as full before anything is written, so that no sign of room is
 * missed.
 */
async function handOver(context: DeliveryContext, agent: Agent, session: Session): Promise<void> {
  const { platform, reconciler, waiters, full, recovered } = context;
  full.add(agent.id);
  let again = await hasLeftovers(context, session);
  // Unread output may prove that it arrived.
  if (again) await reconciler.ingest.catchUp(agent.id);
  let accepted: Accepted;
  do {
    // Terminates: each round hands over some mail, and a process holds a bounded number.
    accepted = await handOverLive(platform, agent, session, { again, fetchesItself: () => waiters.has(agent.id) });
    again = false;
  } while (accepted === 'some');
  if (accepted !== 'full') full.delete(agent.id);
  // Leftover mail is written by now, unless the process does not read.
  if (accepted !== 'not-reading') recovered.set(agent.id, session.id);
  // It has not started to read, or is about to exit: retry the former; the end of the latter is an event.
  if (accepted === 'not-reading') setTimeout(() => context.wake(agent.id), retryMs).unref();
}

/** True if an earlier daemon claimed mail for a session, perhaps without writing it. */
async function hasLeftovers({ platform, recovered }: DeliveryContext, session: Session | null): Promise<boolean> {
  if (session === null || session.endedAt !== null || recovered.get(session.agentId) === session.id) return false;
  const held = await mailOfSession(platform.store.db, session.id);
  return held.some(({ channel }) => channel === 'live');
}

/** The mail that decides the route: the oldest and, if there is more, one that starts a turn in any case. */
async function decidingMail({ platform }: DeliveryContext, agentId: string, oldest: Mail[]): Promise<Mail[]> {
  if (oldest.length < batchLimit) return oldest;
  return [...oldest, ...(await wakingMail(platform.store.db, agentId, { personId: platform.rootId, limit: 1 }))];
}

/** Starts a run of an idle agent. Checks the facts again in the transaction, so concurrent callers start only one. */
async function beginTurn(context: DeliveryContext, known: Agent): Promise<void> {
  const { platform } = context;
  const { store } = platform;
  const project = await projectIfAny(store, known);
  const definition = await platform.definitions.find(project, known.definition);
  const begun = await store.write(async (tx) => {
    const facts = await agentView(tx.db, known.id);
    const waiting = await waitingMail(tx.db, known.id, batchLimit);
    if (facts === null || waiting.length === 0) return false;
    const waking = await wakingMail(tx.db, known.id, { personId: platform.rootId, limit: batchLimit });
    const route = await chooseRoute(context, tx.db, facts, [...waiting, ...waking]);
    if (route.kind !== 'wake') return false;
    const hasQuestion = waking.some(({ kind }) => kind === 'question');
    const words = facts.agent.mode === 'converse' ? await taskFromMail(platform, waking) : null;
    const task = words ?? taskOfMail(facts.agent, hasQuestion);
    const sessionId = facts.run?.sessionId;
    const run = runOf(facts.agent, { id: newId(), project, task, definition, sessionId, now: tx.now });
    await insertRun(tx, run.run);
    await retakeTask(tx, facts.agent);
    await appendMessage(tx, run.message);
    if (route.counts) await noteWake(tx, known.id);
    tx.emit(run.event);
    return true;
  });
  if (begun) crashPoint('mail.after_wake');
}

async function deadLetter({ platform }: DeliveryContext, mails: readonly Mail[], why: string): Promise<void> {
  await platform.store.write(async (tx) => {
    for (const mail of mails) await noteDead(tx, mail, why);
  });
  crashPoint('mail.after_dead_letter');
}
