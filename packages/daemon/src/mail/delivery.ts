import { taskOfMail } from '@pawl/core/prompts/turn-task';
import { runOf } from '@pawl/core/sessions/run';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import type { Event, EventType } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { mailOfSession, recipientsWaiting, waitingMail, wakingMail } from '@pawl/store/mail/mail';
import { noteWake } from '@pawl/store/mail/mailboxes';
import { appendMessage } from '@pawl/store/sessions/messages';
import { insertRun } from '@pawl/store/sessions/runs';
import type { LiveSessions } from './live-sessions.ts';
import { retakeTask } from '../tasks/tasks.ts';
import { projectIfAny } from '../platform/places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { Taken } from './hand-over.ts';
import { handOverLive } from './hand-over.ts';
import { noteDead } from './marks.ts';
import { taskOfWords } from './persons-words.ts';
import type { Waiters } from './waiters.ts';
import { wayFor } from './way.ts';

/** Hands mail over, whoever wrote it down. */
export type Delivery = {
  /** There may be mail for this agent that can be handed over now. Advice: it may be lost, doubled or early. */
  wake(agentId: string): void;
  /** Looks after everybody for whom mail waits. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** What may have made it possible to hand mail over: it was sent, or its recipient has begun, gone on, come to rest or died. */
const triggers: readonly EventType[] = [
  'mail.sent',
  'mail.returned',
  'session.started',
  'session.adopted',
  'session.continued',
  'session.ended',
  'run.ended',
  'agent.left',
];

/** How many mails are looked at to tell how they go on, and made dead letters in one transaction. */
const lookedAt = 64;

/** When a process that did not read its input is tried again. */
const deafMs = 2_000;

/** Begins to hand mail over, for one daemon. Mail of those who wait for it by a command is left to that. */
export function startDelivery(platform: DefinitionPlatform, reconciler: LiveSessions, waiters: Waiters): Delivery {
  const { store } = platform;
  const sight = { platform, reconciler };
  /** Agents whose look has been asked for and has not begun: one of it is enough. */
  const asked = new Set<string>();
  /** Agents whose process has as much in its hands as it may: it gets more when it has shown some of it. */
  const full = new Set<string>();
  /** Of each agent the session that was looked at for what an earlier daemon left undone. */
  const looked = new Map<string, string>();
  const looks = new Set<Promise<void>>();
  let closed = false;

  const unfollow = store.onCommit(({ events }) => {
    for (const event of events) for (const agentId of concernedBy(event, full)) wake(agentId);
  });

  function wake(agentId: string): void {
    if (closed || asked.has(agentId)) return;
    asked.add(agentId);
    const look = lookAfter(agentId);
    looks.add(look);
    void look.finally(() => looks.delete(look));
  }

  async function lookAfter(agentId: string): Promise<void> {
    try {
      // In the agent's own lane: so its mail is handed over by one at a time, and never in the middle of a step.
      await reconciler.inLane(agentId, async () => {
        asked.delete(agentId);
        if (!closed) await deliver(agentId);
      });
    } catch (error) {
      asked.delete(agentId);
      platform.log.error(
        { agent: agentId, error: messageOf(error) },
        'mail could not be handed over; tried again later',
      );
    }
  }

  /** Hands over what can be, or begins a turn for it. */
  async function deliver(agentId: string): Promise<void> {
    const facts = await agentView(store.db, agentId);
    if (facts === null) return;
    full.delete(agentId);
    if (waiters.has(agentId) && facts.agent.endedAt === null) return;
    // Where not even a question would go on, nothing does, and what waits need not be looked at.
    if ((await wayFor(sight, store.db, facts, [{ kind: 'question', fromId: '' }])).way === 'wait') return;
    const waiting = await waitingMail(store.db, agentId, lookedAt);
    if (waiting.length === 0 && !(await isLeft(facts.session))) return;
    const way = await wayFor(sight, store.db, facts, await judged(agentId, waiting));
    switch (way.way) {
      case 'dead':
        await deadLetter(waiting, way.why);
        if (waiting.length === lookedAt) wake(agentId);
        return;
      case 'live':
        if (facts.session !== null) await handOver(facts.agent, facts.session);
        return;
      case 'wake':
        return beginTurn(facts.agent);
      case 'wait':
        return;
    }
  }

  /** Writes to a process what it takes. From before anything is written it counts as full, so that no sign of room is missed. */
  async function handOver(agent: Agent, session: Session): Promise<void> {
    full.add(agent.id);
    let again = await isLeft(session);
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
    if (took !== 'deaf') looked.set(agent.id, session.id);
    // It has not begun to read, or is about to leave: the one is tried again, the other tells when it has.
    if (took === 'deaf') setTimeout(() => wake(agent.id), deafMs).unref();
  }

  /** Whether an earlier daemon left mail in a session's hands, perhaps without having written it. */
  async function isLeft(session: Session | null): Promise<boolean> {
    if (session === null || session.endedAt !== null || looked.get(session.agentId) === session.id) return false;
    const held = await mailOfSession(store.db, session.id);
    return held.some(({ channel }) => channel === 'live');
  }

  /** What decides how mail goes on: the oldest of it, and, where that is not all, what would begin a turn in any case. */
  async function judged(agentId: string, oldest: Mail[]): Promise<Mail[]> {
    if (oldest.length < lookedAt) return oldest;
    return [...oldest, ...(await wakingMail(store.db, agentId, { personId: platform.rootId, limit: 1 }))];
  }

  /** Begins a run of an agent that rests: once, however many ask for it, since the facts are looked at again in the transaction. */
  async function beginTurn(known: Agent): Promise<void> {
    const project = await projectIfAny(store, known);
    const definition = await platform.definitions.find(project, known.definition);
    const begun = await store.write(async (tx) => {
      const facts = await agentView(tx.db, known.id);
      const waiting = await waitingMail(tx.db, known.id, lookedAt);
      if (facts === null || waiting.length === 0) return false;
      const waking = await wakingMail(tx.db, known.id, { personId: platform.rootId, limit: lookedAt });
      const way = await wayFor(sight, tx.db, facts, [...waiting, ...waking]);
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

  async function deadLetter(mails: readonly Mail[], why: string): Promise<void> {
    await store.write(async (tx) => {
      for (const mail of mails) await noteDead(tx, mail, why);
    });
    crashPoint('mail.after_dead_letter');
  }

  const sweep = async () => {
    for (const agentId of await recipientsWaiting(store.db)) wake(agentId);
  };
  const timer = setInterval(
    () =>
      void sweep().catch((error: unknown) => platform.log.error({ error: messageOf(error) }, 'mail: the sweep failed')),
    platform.timing.routeMs,
  );
  timer.unref();

  return {
    wake,
    sweep,
    async close() {
      closed = true;
      clearInterval(timer);
      unfollow();
      await Promise.all(looks);
    },
  };
}

/** Whose mail may go on after an event. */
function concernedBy(event: Event, full: ReadonlySet<string>): string[] {
  if ((event.type === 'agent.killed' || event.type === 'agent.ended') && Array.isArray(event.data['agents']))
    return event.data['agents'].filter((id) => typeof id === 'string');
  if (event.agentId === null) return [];
  // Who has its hands full gets more when it has shown some of it, and not because there is more.
  if (event.type === 'mail.delivered' || event.type === 'mail.dead_lettered')
    return full.has(event.agentId) ? [event.agentId] : [];
  if (event.type === 'mail.sent' && full.has(event.agentId)) return [];
  return triggers.includes(event.type) ? [event.agentId] : [];
}
