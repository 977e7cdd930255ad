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
import type { Taken } from './hand-over.ts';
import { handOverLive } from './hand-over.ts';
import { noteDead } from './marks.ts';
import { taskOfWords } from './persons-words.ts';
import type { Waiters } from './waiters.ts';
import type { Sight } from './way.ts';
import { wayFor } from './way.ts';

/** The collaborators and the memory of delivery. */
export type DeliveryContext = Sight & {
  waiters: Waiters;
  /** Agents whose process has as much in its hands as it may: it gets more when it has shown some of it. */
  full: Set<string>;
  /** Of each agent the session that was looked at for what an earlier daemon left undone. */
  recovered: Map<string, string>;
  /** Delivers to an agent again, soon. */
  wake(agentId: string): void;
};

/** How many mails are looked at to tell how they go on, and made dead letters in one transaction. */
const lookedAt = 64;

/** When a process that did not read its input is tried again. */
const deafMs = 2_000;

/** Hands over the mail of an agent that can be, or begins a turn for it; to be called in the agent's lane. */
export async function deliver(context: DeliveryContext, agentId: string): Promise<void> {
  const { platform, waiters, full } = context;
  const { db } = platform.store;
  const facts = await agentView(db, agentId);
  if (facts === null) return;
  full.delete(agentId);
  if (waiters.has(agentId) && facts.agent.endedAt === null) return;
  // Where not even a question would go on, nothing does, and what waits need not be looked at.
  if ((await wayFor(context, db, facts, [{ kind: 'question', fromId: '' }])).way === 'wait') return;
  const waiting = await waitingMail(db, agentId, lookedAt);
  if (waiting.length === 0 && !(await isLeft(context, facts.session))) return;
  const way = await wayFor(context, db, facts, await judged(context, agentId, waiting));
  switch (way.way) {
    case 'dead':
      await deadLetter(context, waiting, way.why);
      if (waiting.length === lookedAt) context.wake(agentId);
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

/** Writes to a process what it takes. From before anything is written it counts as full, so that no sign of room is missed. */
async function handOver(context: DeliveryContext, agent: Agent, session: Session): Promise<void> {
  const { platform, reconciler, waiters, full, recovered } = context;
  full.add(agent.id);
  let again = await isLeft(context, session);
  // Its arrival may stand in output that nobody has looked at since.
  if (again) await reconciler.ingest.catchUp(agent.id);
  let took: Taken;
  do {
    // Each round takes some, and a process holds a bounded number: so this ends.
    took = await handOverLive(platform, agent, session, { again, isLeft: () => waiters.has(agent.id) });
    again = false;
  } while (took === 'some');
  if (took !== 'full') full.delete(agent.id);
  // What was left is written by now, unless nobody reads there.
  if (took !== 'deaf') recovered.set(agent.id, session.id);
  // It has not begun to read, or is about to leave: the one is tried again, the other tells when it has.
  if (took === 'deaf') setTimeout(() => context.wake(agent.id), deafMs).unref();
}

/** Whether an earlier daemon left mail in a session's hands, perhaps without having written it. */
async function isLeft({ platform, recovered }: DeliveryContext, session: Session | null): Promise<boolean> {
  if (session === null || session.endedAt !== null || recovered.get(session.agentId) === session.id) return false;
  const held = await mailOfSession(platform.store.db, session.id);
  return held.some(({ channel }) => channel === 'live');
}

/** The mail that decides how it goes on: the oldest, and, where that is not all, one that would begin a turn in any case. */
async function judged({ platform }: DeliveryContext, agentId: string, oldest: Mail[]): Promise<Mail[]> {
  if (oldest.length < lookedAt) return oldest;
  return [...oldest, ...(await wakingMail(platform.store.db, agentId, { personId: platform.rootId, limit: 1 }))];
}

/** Begins a run of an agent that rests: once, however many ask for it, since the facts are looked at again in the transaction. */
async function beginTurn(context: DeliveryContext, known: Agent): Promise<void> {
  const { platform } = context;
  const { store } = platform;
  const project = await projectIfAny(store, known);
  const definition = await platform.definitions.find(project, known.definition);
  const begun = await store.write(async (tx) => {
    const facts = await agentView(tx.db, known.id);
    const waiting = await waitingMail(tx.db, known.id, lookedAt);
    if (facts === null || waiting.length === 0) return false;
    const waking = await wakingMail(tx.db, known.id, { personId: platform.rootId, limit: lookedAt });
    const way = await wayFor(context, tx.db, facts, [...waiting, ...waking]);
    if (way.way !== 'wake') return false;
    const hasQuestion = waking.some(({ kind }) => kind === 'question');
    const words = facts.agent.mode === 'converse' ? await taskOfWords(platform, waking) : null;
    const task = words ?? taskOfMail(facts.agent, hasQuestion);
    const sessionId = facts.run?.sessionId;
    const run = runOf(facts.agent, { id: newId(), project, task, definition, sessionId, now: tx.now });
    await insertRun(tx, run.run);
    await retakeTask(tx, facts.agent);
    await appendMessage(tx, run.message);
    if (way.counts) await noteWake(tx, known.id);
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
