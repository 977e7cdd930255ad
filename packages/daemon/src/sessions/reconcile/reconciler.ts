import { nextStep } from '@pawl/core/sessions/next-step';
import { createLimiter, createLanes, createSlots } from '@pawl/core/sessions/turn-taking';
import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentsToReconcile, agentView } from '@pawl/store/agents/agent-views';
import { endAccountWaits } from '@pawl/store/sessions/runs';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { adoptSessions } from './adopt.ts';
import { createAlarms } from './alarms.ts';
import type { Loop } from './loop.ts';
import { applyRules } from '../../rules/session-network.ts';
import { agentsToEnd, agentsToWake, providerToRetry } from './reconcile-events.ts';
import { endHung, endSpent } from './session-ends.ts';
import { isRunning } from './session-process.ts';
import { watchSessions } from './session-watch.ts';
import { doStep, tryStep, wakeLater } from './steps.ts';

/** Compares each agent's facts with the actual state and closes the difference. */
export type Reconciler = {
  ingest: Ingest;
  /** Adopts every agent that was working when the last daemon ended. Resolves when each living one is adopted. */
  adopt(): Promise<{ adopted: number; ended: number }>;
  /** Checks every agent with a pending step, and returns them, in case a wake was lost. */
  sweep(): Promise<AgentFacts[]>;
  /** Resolves when the agent has no step that is possible now. */
  settle(agentId: string): Promise<void>;
  /** Ends the unwanted sessions of these agents; resolves when their processes have exited. */
  endSessions(agentIds: readonly string[]): Promise<void>;
  /** Acts on the running session of an agent, between two steps; null if none runs. */
  withSession<T>(agentId: string, act: (facts: RunningFacts) => Promise<T>): Promise<T | null>;
  /** Runs `act` in the agent's lane, between two of its steps. */
  inLane<T>(agentId: string, act: () => Promise<T>): Promise<T>;
  /** True while an agent waits because the limit of working agents is reached. */
  isQueued(agentId: string): boolean;
  close(): Promise<void>;
};

/** An agent with a session whose process is recorded and not known to have exited. */
export type RunningFacts = { agent: Agent; session: Session };

/** Starts the loop of one daemon. No two steps of one agent overlap; agents do not wait for each other. */
export function startReconciler(platform: SessionPlatform): Reconciler {
  const { db } = platform.store;
  const lanes = createLanes();
  /** Agents with a scheduled step that has not started; one is enough. */
  const scheduled = new Set<string>();
  const loop: Loop = {
    platform,
    lanes,
    startLimiter: createLimiter(limits.parallelStarts),
    agentSlots: createSlots(platform.choices.maxAgents),
    sessionSlots: createSlots(platform.choices.maxSessions),
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
    for (const event of events) wakeFor(loop, event);
  });

  function wake(agentId: string): void {
    if (loop.closed || scheduled.has(agentId)) return;
    scheduled.add(agentId);
    settle(agentId).catch((error: unknown) => reportLook(agentId, error));
  }

  function reportLook(agentId: string, error: unknown): void {
    platform.log.error({ agent: agentId, error: messageOf(error) }, 'failed to reconcile an agent; will retry');
    wakeLater(loop, agentId);
  }

  function settle(agentId: string): Promise<void> {
    return lanes.run(agentId, async () => {
      scheduled.delete(agentId);
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
    isQueued: (agentId) => loop.agentSlots.isWaiting(agentId) || loop.sessionSlots.isWaiting(agentId),
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

/** Wakes the agents that an event concerns, right after its commit. */
function wakeFor(loop: Loop, event: Event): void {
  const { log } = loop.platform;
  for (const agentId of agentsToWake(event)) loop.wake(agentId);
  const dying = agentsToEnd(event);
  if (dying !== null)
    endSessions(loop, dying.first)
      .finally(() => (loop.closed ? undefined : endSessions(loop, dying.last)))
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'failed to end a session; will retry'));
  applyRules(loop.platform, event).catch((error: unknown) =>
    log.error({ error: messageOf(error) }, 'failed to apply a network rule to running sessions'),
  );
  const provider = providerToRetry(event);
  if (provider !== null)
    endWaitsFor(loop, provider).catch((error: unknown) =>
      log.error({ provider, error: messageOf(error) }, 'failed to retry runs that wait for an account'),
    );
}

/** Retries the runs that wait for an account of a provider, since there may be one now. */
async function endWaitsFor({ platform, wake }: Loop, provider: string): Promise<void> {
  for (const agentId of await platform.store.write((tx) => endAccountWaits(tx, provider))) wake(agentId);
}

/** Ends unwanted sessions of agents, all at once; their other steps follow. */
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
