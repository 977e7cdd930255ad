import type { AgentFacts, Step } from '@pawl/core/sessions/next-step';
import { nextStep } from '@pawl/core/sessions/next-step';
import { findSession } from '@pawl/host/session/find-session';
import { haltSession } from '@pawl/host/session/halt-session';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import type { AgentView } from '@pawl/store/agents/agent-views';
import { agentsToReconcile, agentView } from '@pawl/store/agents/agent-views';
import { endAccountWaits, setWait } from '@pawl/store/sessions/runs';
import type { Ingest } from '../ingest/ingest.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { identityOf, sessionDirectory } from '../../platform/platform.ts';
import { endAgent } from '../../registry/kill-record.ts';
import { createAlarms } from './alarms.ts';
import { cleanUp } from './clean-up.ts';
import { finishSession } from './finish.ts';
import { createGate, createLanes, createPlaces } from '@pawl/core/sessions/turn-taking';
import { isRunning, watchSessions } from './session-watch.ts';
import { agentsToEnd, agentsToWake, providerToRetry } from './reconcile-events.ts';
import { recordEnd } from './verdict.ts';
import { retire } from './retire.ts';
import { makeWorktree } from './make-worktree.ts';
import { findBreach } from './spending.ts';
import { planSession, startPlanned } from './start.ts';

/** Compares each agent's facts with the world and closes the difference. */
export type Reconciler = {
  ingest: Ingest;
  /** Takes up every agent that was at work when the last daemon ended. Resolves when each living one is adopted. */
  adopt(): Promise<{ adopted: number; ended: number }>;
  /** Looks at every agent that has a step to do, and returns them: the floor under a lost wake. */
  sweep(): Promise<AgentView[]>;
  /** Resolves when nothing more can be done for the agent at once. */
  settle(agentId: string): Promise<void>;
  /** Ends the sessions of these agents that nobody wants any more; resolves when their processes have left. */
  endSessions(agentIds: readonly string[]): Promise<void>;
  /** Does something to the running session of an agent, between two steps; null when none runs. */
  withSession<T>(agentId: string, act: (facts: RunningFacts) => Promise<T>): Promise<T | null>;
  /** Does something about an agent between two of its steps. */
  inLane<T>(agentId: string, act: () => Promise<T>): Promise<T>;
  /** True while an agent waits because as many as may be at work are. */
  isQueued(agentId: string): boolean;
  close(): Promise<void>;
};

/** An agent with a session whose process is on record and has not been seen to leave. */
export type RunningFacts = { agent: Agent; session: Session };

/** How long to wait before an agent is taken up again whose step failed for want of disk or memory. */
const retryMs = 1_000;

/** Where a failure is the agent's own, and not that of the one who looks. */
const startingSteps: readonly string[] = ['make-worktree', 'plan-session', 'start-session'];

/** Starts the loop of one daemon. No two steps of one agent ever overlap; agents do not wait for each other. */
export function startReconciler(platform: SessionPlatform): Reconciler {
  const { db } = platform.store;
  const lanes = createLanes();
  const startGate = createGate(limits.parallelStarts);
  const agentPlaces = createPlaces(platform.choices.maxAgents);
  const sessionPlaces = createPlaces(platform.choices.maxSessions);
  /** Sessions that ran when the last daemon ended and were gone when this one came. */
  const lost = new Set<string>();
  /** Sessions that were ended because they printed nothing. */
  const silent = new Set<string>();
  const watch = watchSessions(platform, {
    onLeft: wake,
    onHung: endHung,
    onSilent(agentId, sessionId) {
      silent.add(sessionId);
      endHung(agentId, sessionId);
    },
    onSpent: (agentId) =>
      void lanes.run(agentId, () => endSpent(agentId)).catch((error: unknown) => reportLook(agentId, error)),
  });
  const alarms = createAlarms(wake);
  /** Agents whose next look has been asked for and has not begun: one of it is enough. */
  const asked = new Set<string>();
  let closed = false;
  const stopListening = platform.store.onCommit(({ events }) => {
    for (const event of events) hear(event);
  });

  function hear(event: Event): void {
    for (const agentId of agentsToWake(event)) wake(agentId);
    const dying = agentsToEnd(event);
    if (dying !== null)
      endSessions(dying.first)
        .finally(() => (closed ? undefined : endSessions(dying.last)))
        .catch((error: unknown) =>
          platform.log.error({ error: messageOf(error) }, 'a session could not be ended; tried again'),
        );
    const provider = providerToRetry(event);
    if (provider !== null)
      endWaitsFor(provider).catch((error: unknown) =>
        platform.log.error({ provider, error: messageOf(error) }, 'runs that wait for an account were not retried'),
      );
  }

  /** Retries the runs that wait for an account of a provider: there may be one now. */
  async function endWaitsFor(provider: string): Promise<void> {
    for (const agentId of await platform.store.write((tx) => endAccountWaits(tx, provider))) wake(agentId);
  }

  /** There may be something to do for this agent. A wake is advice: it may be lost, doubled or early. */
  function wake(agentId: string): void {
    if (closed || asked.has(agentId)) return;
    asked.add(agentId);
    settle(agentId).catch((error: unknown) => reportLook(agentId, error));
  }

  function reportLook(agentId: string, error: unknown): void {
    platform.log.error({ agent: agentId, error: messageOf(error) }, 'an agent could not be looked at; tried again');
    wakeLater(agentId);
  }

  function wakeLater(agentId: string): void {
    setTimeout(() => wake(agentId), retryMs).unref();
  }

  function settle(agentId: string): Promise<void> {
    return lanes.run(agentId, async () => {
      asked.delete(agentId);
      while (!closed) {
        const facts = await agentView(db, agentId);
        if (facts === null || !(await tryStep(facts))) return;
      }
    });
  }

  /** Whoever waits for a place that is free now is looked at. */
  function wakeNext(): void {
    for (const next of [agentPlaces.next(), sessionPlaces.next()]) if (next !== null) wake(next);
  }

  /** Does the next step, or records why it failed; true when there may be another one at once. */
  async function tryStep(facts: AgentFacts): Promise<boolean> {
    try {
      return await doStep(facts);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
      platform.log.error({ agent: facts.agent.alias, error: messageOf(error), cause }, 'a step failed');
      // Want of disk or descriptors passes, and a look that failed says nothing about the agent that was looked at.
      const fatal = !isPassing(error) && startingSteps.includes(nextStep(facts).do);
      if (fatal) return giveUp(facts, messageOf(error));
      wakeLater(facts.agent.id);
      return false;
    }
  }

  async function doStep(facts: AgentFacts): Promise<boolean> {
    const { agent, session } = facts;
    const step = nextStep(facts).do;
    if (!hasPlace(agent, step)) return false;
    switch (step) {
      case 'make-worktree':
        await throughGate(agent, step, () => makeWorktree(platform, facts));
        return true;
      case 'wait':
        return endWait(facts);
      case 'plan-session':
        return planSession(platform, facts);
      case 'start-session':
        await throughGate(agent, step, () => startPlanned(platform, facts));
        return true;
      case 'watch':
        return session !== null && watchOrFinish(agent, session);
      case 'stop-session':
        if (session !== null) await stopAndFinish(agent, session);
        return true;
      case 'cancel-run':
        await endRunNow(facts, 'cancelled', 'stopped on request');
        return true;
      case 'retire':
        await platform.store.write((tx) => retire(tx, agent.id));
        return true;
      case 'clean-up':
        await throughGate(agent, step, () => cleanUp(platform, agent));
        return true;
      case 'rest':
        return false;
    }
  }

  /** Does a heavy step when it is its turn, unless that has been waited for too long: it may not be wanted any more. */
  async function throughGate({ id }: Agent, step: Step['do'], act: () => Promise<unknown>): Promise<void> {
    await startGate(async () => {
      const facts = closed ? null : await agentView(db, id);
      if (facts !== null && nextStep(facts).do === step) await act();
    });
  }

  /** Takes or gives back the places that a step is about; false when the agent has to wait for one. */
  function hasPlace({ id }: Agent, step: Step['do']): boolean {
    const starts = startingSteps.includes(step);
    // Processes that are being ended are there until they have left.
    const runs = step === 'start-session' || step === 'watch' || step === 'stop-session';
    if (!starts && !runs) agentPlaces.free(id);
    if (!runs) sessionPlaces.free(id);
    if (step === 'watch') for (const places of [agentPlaces, sessionPlaces]) places.keep(id);
    const waits = (starts && !agentPlaces.take(id)) || (step === 'start-session' && !sessionPlaces.take(id));
    wakeNext();
    return !waits;
  }

  async function endSessions(agentIds: readonly string[]): Promise<void> {
    try {
      await Promise.all(agentIds.map(endSession));
    } finally {
      // What is left to do, or has to be tried again, is done without anybody waiting for it.
      for (const agentId of agentIds) wake(agentId);
    }
  }

  async function endSession(agentId: string): Promise<void> {
    await lanes.run(agentId, async () => {
      const facts = await agentView(db, agentId);
      if (facts !== null && nextStep(facts).do === 'stop-session') await doStep(facts);
    });
  }

  /** Lets a run go on whose time has come; until then it is looked at again when that is. */
  async function endWait({ agent, run }: AgentFacts): Promise<boolean> {
    if (run?.waitUntil === undefined || run.waitUntil === null) return false;
    const leftMs = run.waitUntil - platform.clock();
    if (leftMs > 0) {
      alarms.set(agent.id, leftMs);
      return false;
    }
    await platform.store.write((tx) => setWait(tx, run.id, null));
    return true;
  }

  /** Ends a running session whose budget is used up. */
  async function endSpent(agentId: string): Promise<void> {
    const facts = await agentView(db, agentId);
    if (facts?.run?.outcome !== null || facts.session?.endedAt !== null || nextStep(facts).do !== 'watch') return;
    if ((await findBreach(platform, facts.agent, facts.run)) === null) return;
    // The verdict finds the same breach, and names it.
    await stopAndFinish(facts.agent, facts.session);
    wake(agentId);
  }

  /** Looks after a running session; true when it had ended and is finished now. */
  async function watchOrFinish(agent: Agent, session: Session): Promise<boolean> {
    await watch.attach(agent, session);
    const { alive, exit } = await findSession(sessionDirectory(platform.home, session.id));
    if (exit === null && alive && isRunning(session)) return false;
    await finish(agent.id, session.id);
    return true;
  }

  async function stopAndFinish(agent: Agent, session: Session, failure: string | null = null): Promise<void> {
    await watch.attach(agent, session);
    await watch.endProcesses(agent, session);
    crashPoint('stop.after_processes');
    await finish(agent.id, session.id, failure);
  }

  /** Ends a session that has said that it is done but does not leave; what it said then counts. */
  function endHung(agentId: string, sessionId: string): void {
    const ending = lanes.run(agentId, async () => {
      const facts = await agentView(db, agentId);
      // A halted agent cannot leave, and is not to.
      if (facts?.session?.id === sessionId && facts.session.pausedAt === null && watch.has(sessionId))
        await watch.endProcesses(facts.agent, facts.session);
    });
    ending.then(
      () => wake(agentId),
      (error: unknown) =>
        platform.log.error({ agent: agentId, error: messageOf(error) }, 'a session could not be ended'),
    );
  }

  async function finish(agentId: string, sessionId: string, failure: string | null = null): Promise<void> {
    const facts = await agentView(db, agentId);
    if (facts?.session?.id !== sessionId || facts.session.endedAt !== null) return;
    await finishSession(platform, watch.ingest, facts, {
      failure,
      lost: lost.has(sessionId),
      hung: silent.has(sessionId),
    });
    watch.release(sessionId);
    lost.delete(sessionId);
    silent.delete(sessionId);
  }

  async function endRunNow(facts: AgentFacts, outcome: 'failed' | 'cancelled', detail: string): Promise<void> {
    const { run } = facts;
    if (run === null) return;
    // Whoever had said that it is done, and was only asked to commit, is done.
    const done = outcome === 'failed' && run.resultBefore !== null;
    const end = done ? ({ outcome: 'completed', detail: run.resultBefore ?? '' } as const) : { outcome, detail };
    await platform.store.write((tx) => recordEnd(tx, { ...facts, run }, { next: 'end', ...end, questions: null }));
  }

  /** Ends what runs and fails the run with the reason. */
  async function giveUp(facts: AgentFacts, detail: string): Promise<boolean> {
    const { agent, session } = facts;
    if (session !== null && session.endedAt === null) await stopAndFinish(agent, session, detail);
    if (facts.run === null) await endAgent(platform.store, agent, detail);
    else await endRunNow(facts, 'failed', detail);
    return true;
  }

  return {
    ingest: watch.ingest,
    settle,
    inLane: (agentId, act) => lanes.run(agentId, act),
    isQueued: (agentId) => agentPlaces.isWaiting(agentId) || sessionPlaces.isWaiting(agentId),
    endSessions,
    async sweep() {
      const found = await agentsToReconcile(db);
      for (const { agent } of found) wake(agent.id);
      return found;
    },
    withSession: (agentId, act) =>
      lanes.run(agentId, async () => {
        const { agent, session } = (await agentView(db, agentId)) ?? { agent: null, session: null };
        if (agent === null || session === null || session.startedAt === null || session.endedAt !== null) return null;
        return isRunning(session) ? act({ agent, session }) : null;
      }),
    async adopt() {
      const found = await agentsToReconcile(db);
      const running = found.filter(
        ({ session }) => session !== null && session.startedAt !== null && session.endedAt === null,
      );
      let adopted = 0;
      for (const { agent, session } of running) {
        if (session === null) continue;
        try {
          await watch.attach(agent, session);
          const state = await adoptSession(platform, agent, session);
          if (state === 'lost') lost.add(session.id);
          if (state !== 'running') continue;
          adopted++;
          for (const places of [agentPlaces, sessionPlaces]) places.keep(agent.id);
        } catch (error) {
          // One session that cannot be read does not keep the others from being looked after; it is looked at again.
          platform.log.error({ agent: agent.alias, error: messageOf(error) }, 'a session could not be adopted yet');
        }
      }
      for (const { agent } of found) wake(agent.id);
      return { adopted, ended: running.length - adopted };
    },
    async close() {
      closed = true;
      stopListening();
      alarms.close();
      await Promise.all([watch.close(), lanes.drain()]);
    },
  };
}

/** Notes that a process of an earlier daemon still runs and is ours again. */
async function adoptSession(
  platform: SessionPlatform,
  agent: Agent,
  session: Session,
): Promise<'running' | 'ended' | 'lost'> {
  const dir = sessionDirectory(platform.home, session.id);
  const { alive, exit } = await findSession(dir);
  const { no, pid } = session;
  if (exit !== null) return 'ended';
  if (!alive || pid === null) return 'lost';
  await platform.store.write(async (tx) => {
    tx.emit({ type: 'session.adopted', projectId: agent.projectId, agentId: agent.id, data: { no, pid } });
  });
  // The last daemon may have died between the wish to halt it and the deed.
  if (session.pausedAt !== null) await haltSession({ identity: identityOf(session), dir, marker: session.id });
  return 'running';
}
