import { nextStep } from '@pawl/core/sessions/next-step';
import { createGate, createLanes, createPlaces } from '@pawl/core/sessions/turn-taking';
import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import type { AgentView } from '@pawl/store/agents/agent-views';
import { agentsToReconcile, agentView } from '@pawl/store/agents/agent-views';
import { endAccountWaits } from '@pawl/store/sessions/runs';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { adoptSessions } from './adopt.ts';
import { createAlarms } from './alarms.ts';
import type { Loop } from './loop.ts';
import { agentsToEnd, agentsToWake, providerToRetry } from './reconcile-events.ts';
import { endHung, endSpent } from './session-ends.ts';
import { isRunning } from './session-process.ts';
import { watchSessions } from './session-watch.ts';
import { doStep, tryStep, wakeLater } from './steps.ts';

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

/** Starts the loop of one daemon. No two steps of one agent ever overlap; agents do not wait for each other. */
export function startReconciler(platform: SessionPlatform): Reconciler {
  const { db } = platform.store;
  const lanes = createLanes();
  /** Agents whose next look has been asked for and has not begun: one of it is enough. */
  const asked = new Set<string>();
  const loop: Loop = {
    platform,
    lanes,
    startGate: createGate(limits.parallelStarts),
    agentPlaces: createPlaces(platform.choices.maxAgents),
    sessionPlaces: createPlaces(platform.choices.maxSessions),
    watch: watchSessions(platform, {
      onLeft: wake,
      onHung: (agentId, sessionId) => endHung(loop, agentId, sessionId),
      onSilent(agentId, sessionId) {
        loop.silent.add(sessionId);
        endHung(loop, agentId, sessionId);
      },
      onSpent: (agentId) =>
        void lanes.run(agentId, () => endSpent(loop, agentId)).catch((error: unknown) => reportLook(agentId, error)),
    }),
    alarms: createAlarms(wake),
    lost: new Set(),
    silent: new Set(),
    closed: false,
    wake,
  };
  const stopListening = platform.store.onCommit(({ events }) => {
    for (const event of events) hear(loop, event);
  });

  function wake(agentId: string): void {
    if (loop.closed || asked.has(agentId)) return;
    asked.add(agentId);
    settle(agentId).catch((error: unknown) => reportLook(agentId, error));
  }

  function reportLook(agentId: string, error: unknown): void {
    platform.log.error({ agent: agentId, error: messageOf(error) }, 'an agent could not be looked at; tried again');
    wakeLater(loop, agentId);
  }

  function settle(agentId: string): Promise<void> {
    return lanes.run(agentId, async () => {
      asked.delete(agentId);
      while (!loop.closed) {
        const facts = await agentView(db, agentId);
        if (facts === null || !(await tryStep(loop, facts))) return;
      }
    });
  }

  return {
    ingest: loop.watch.ingest,
    settle,
    endSessions: (agentIds) => endSessions(loop, agentIds),
    async sweep() {
      const found = await agentsToReconcile(db);
      for (const { agent } of found) wake(agent.id);
      return found;
    },
    inLane: (agentId, act) => lanes.run(agentId, act),
    isQueued: (agentId) => loop.agentPlaces.isWaiting(agentId) || loop.sessionPlaces.isWaiting(agentId),
    withSession: (agentId, act) => lanes.run(agentId, () => withSession(loop, agentId, act)),
    adopt: () => adoptSessions(loop),
    async close() {
      loop.closed = true;
      stopListening();
      loop.alarms.close();
      await Promise.all([loop.watch.close(), lanes.drain()]);
    },
  };
}

/** Wakes whom an event concerns, right after its commit. */
function hear(loop: Loop, event: Event): void {
  const { log } = loop.platform;
  for (const agentId of agentsToWake(event)) loop.wake(agentId);
  const dying = agentsToEnd(event);
  if (dying !== null)
    endSessions(loop, dying.first)
      .finally(() => (loop.closed ? undefined : endSessions(loop, dying.last)))
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'a session could not be ended; tried again'));
  const provider = providerToRetry(event);
  if (provider !== null)
    endWaitsFor(loop, provider).catch((error: unknown) =>
      log.error({ provider, error: messageOf(error) }, 'runs that wait for an account were not retried'),
    );
}

/** Retries the runs that wait for an account of a provider: there may be one now. */
async function endWaitsFor({ platform, wake }: Loop, provider: string): Promise<void> {
  for (const agentId of await platform.store.write((tx) => endAccountWaits(tx, provider))) wake(agentId);
}

/** Ends sessions of agents that are not wanted any more, all at once; the other steps of these agents follow. */
async function endSessions(loop: Loop, agentIds: readonly string[]): Promise<void> {
  const endOne = (agentId: string) =>
    loop.lanes.run(agentId, async () => {
      const facts = await agentView(loop.platform.store.db, agentId);
      if (facts !== null && nextStep(facts).do === 'stop-session') await doStep(loop, facts);
    });
  try {
    await Promise.all(agentIds.map(endOne));
  } finally {
    // The rest, and any retry, happens without the caller waiting for it.
    for (const agentId of agentIds) loop.wake(agentId);
  }
}

async function withSession<T>(
  { platform }: Loop,
  agentId: string,
  act: (facts: RunningFacts) => Promise<T>,
): Promise<T | null> {
  const { agent, session } = (await agentView(platform.store.db, agentId)) ?? { agent: null, session: null };
  if (agent === null || session === null || session.startedAt === null || session.endedAt !== null) return null;
  return isRunning(session) ? act({ agent, session }) : null;
}
