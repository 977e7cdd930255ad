import type { Verdict } from '@pawl/core/completion';
import type { AgentFacts } from '@pawl/core/next-step';
import { nextStep } from '@pawl/core/next-step';
import { totalUsage } from '@pawl/core/usage';
import { findSession } from '@pawl/host/find-session';
import { isAlive } from '@pawl/host/identity';
import { closeInput } from '@pawl/host/input';
import { sessionFile } from '@pawl/host/session-files';
import { stopSession } from '@pawl/host/stop-session';
import { lineParsers } from '@pawl/providers/parser';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import { agentsToReconcile, agentView } from '@pawl/store/agent-views';
import { sessionOffsets, sessionsOf } from '@pawl/store/sessions';
import { existsSync } from 'node:fs';

import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { readSignal } from '../signal-file.ts';
import { createSerial } from '../serial.ts';
import type { Workshop } from '../workshop.ts';
import { sessionDirectory } from '../workshop.ts';
import { createGate } from './gate.ts';
import { finishSession, recordEnd } from './finish.ts';
import { makeWorktree, planSession, startPlanned } from './start.ts';

/** Compares each agent's facts with the world and closes the difference. */
export type Reconciler = {
  ingest: Ingest;
  /** Takes up every agent that was at work when the last daemon ended. Resolves when each living one is adopted. */
  adopt(): Promise<{ adopted: number; ended: number }>;
  /** There may be something to do for this agent. A wake is advice: it may be lost, doubled or early. */
  wake(agentId: string): void;
  /** Resolves when nothing more can be done for the agent at once. */
  settle(agentId: string): Promise<void>;
  close(): Promise<void>;
};

/** How long to wait before an agent is taken up again whose step failed for want of disk or memory. */
const retryMs = 1_000;

type Watched = { agentId: string; session: Session; leaving: boolean; signalSeenAtMs: number | null };

/** Starts the loops of one daemon. */
export function startReconciler(shop: Workshop): Reconciler {
  const watched = new Map<string, Watched>();
  const lanes = new Map<string, { serially: ReturnType<typeof createSerial>; jobs: number }>();
  const startGate = createGate(limits.parallelStarts);
  let closed = false;
  const ingest = startIngest({
    store: shop.store,
    onChange: (sessionId) => checkExit(sessionId),
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onTrouble: (error) => shop.log.error({ error: messageOf(error) }, 'output could not be stored; it is tried again'),
  });
  const timer = setInterval(() => void inspectAll(), shop.timing.livenessMs);
  timer.unref();

  /** One job at a time for each agent, so that no two steps of one agent ever overlap. */
  async function inLane<T>(agentId: string, job: () => Promise<T>): Promise<T> {
    const lane = lanes.get(agentId) ?? { serially: createSerial(), jobs: 0 };
    lanes.set(agentId, lane);
    lane.jobs++;
    try {
      return await lane.serially(job);
    } finally {
      if (--lane.jobs === 0) lanes.delete(agentId);
    }
  }

  async function reconcile(agentId: string): Promise<void> {
    while (!closed) {
      const facts = await agentView(shop.store.db, agentId);
      if (facts === null) return;
      try {
        if (!(await doStep(facts))) return;
      } catch (error) {
        if (!(await failStep(facts, error))) return;
      }
    }
  }

  /** Does the next step; true when there may be another one at once. */
  async function doStep(facts: AgentFacts): Promise<boolean> {
    const { agent, run, session } = facts;
    const step = nextStep(facts);
    switch (step.do) {
      case 'make-worktree':
        await startGate(() => makeWorktree(shop, facts));
        return true;
      case 'plan-session':
        await planSession(shop, facts);
        return true;
      case 'start-session':
        await startGate(() => startPlanned(shop, facts));
        return true;
      case 'watch':
        return session !== null && (await watchSession(agent, session));
      case 'stop-session':
        if (session === null) return false;
        await watchSession(agent, session);
        await endProcesses(session, agent);
        await finish(agent.id, session.id);
        return true;
      case 'cancel-run':
        if (run !== null) await endRunNow(facts, { outcome: 'cancelled', detail: 'stopped on request' });
        return false;
      case 'rest':
        return false;
    }
  }

  /** Attaches to a running session; true when it had already ended and is now finished. */
  async function watchSession(agent: Agent, session: Session): Promise<boolean> {
    if (!watched.has(session.id)) await attach(agent, session);
    const { alive, exit } = await findSession(sessionDirectory(shop.home, session.id));
    const sameProcess =
      session.pid !== null &&
      session.processStart !== null &&
      isAlive({ pid: session.pid, start: session.processStart });
    if (exit === null && alive && sameProcess) return false;
    if (agent.stopRequestedAt !== null) return false;
    await finish(agent.id, session.id);
    return true;
  }

  async function attach(agent: Agent, session: Session): Promise<void> {
    const preset = shop.providers.get(agent.provider ?? '');
    const earlier = (await sessionsOf(shop.store.db, agent.id)).filter((each) => each.no < session.no);
    watched.set(session.id, { agentId: agent.id, session, leaving: false, signalSeenAtMs: null });
    await ingest.attach({
      agent,
      session,
      directory: sessionDirectory(shop.home, session.id),
      parse: lineParsers[preset.outputFormat],
      usageScope: preset.usageScope,
      earlierUsage: totalUsage(earlier.map((each) => each.usage)),
      offsets: await sessionOffsets(shop.store.db, session.id),
    });
  }

  async function finish(agentId: string, sessionId: string): Promise<void> {
    const facts = await agentView(shop.store.db, agentId);
    if (facts === null || facts.session?.id !== sessionId || facts.session.endedAt !== null) return;
    await finishSession(shop, ingest, facts);
    watched.delete(sessionId);
  }

  function endProcesses(session: Session, agent: Agent) {
    const { firstSignal } = shop.providers.get(agent.provider ?? '');
    const identity =
      session.pid === null || session.processStart === null ? null : { pid: session.pid, start: session.processStart };
    return stopSession({
      identity,
      dir: sessionDirectory(shop.home, session.id),
      marker: session.id,
      firstSignal,
      graceMs: shop.timing.stopGraceMs,
    });
  }

  async function endRunNow(facts: AgentFacts, end: { outcome: 'failed' | 'cancelled'; detail: string }): Promise<void> {
    const verdict: Extract<Verdict, { next: 'end' }> = { next: 'end', questions: null, ...end };
    await shop.store.write(async (tx) => {
      if (facts.run !== null) await recordEnd(tx, { ...facts, run: facts.run }, verdict);
    });
  }

  /** A step failed: want of disk is waited out, anything else ends the run with the reason. True to go on at once. */
  async function failStep(facts: AgentFacts, error: unknown): Promise<boolean> {
    const { agent, session } = facts;
    shop.log.error({ agent: agent.alias, error: messageOf(error) }, 'a step failed');
    if (error instanceof PawlError && error.code === 'unavailable') {
      setTimeout(() => wake(agent.id), retryMs).unref();
      return false;
    }
    try {
      if (session !== null && session.endedAt === null) {
        await endProcesses(session, agent);
        await finish(agent.id, session.id);
      }
      await endRunNow(facts, { outcome: 'failed', detail: messageOf(error) });
      return true;
    } catch (second) {
      shop.log.error(
        { agent: agent.alias, error: messageOf(second) },
        'the failure could not be recorded; tried again',
      );
      setTimeout(() => wake(agent.id), retryMs).unref();
      return false;
    }
  }

  function wake(agentId: string): void {
    if (!closed) void inLane(agentId, () => reconcile(agentId));
  }

  function checkExit(sessionId: string): void {
    const entry = watched.get(sessionId);
    if (entry === undefined || entry.leaving) return;
    if (!existsSync(sessionFile(sessionDirectory(shop.home, sessionId), 'exit'))) return;
    entry.leaving = true;
    wake(entry.agentId);
  }

  async function endInput(sessionId: string): Promise<void> {
    try {
      await closeInput(sessionDirectory(shop.home, sessionId));
    } catch (error) {
      shop.log.debug({ session: sessionId, error: messageOf(error) }, 'the input was closed already');
    }
  }

  /** The poll floor: who has died without a word, and who has said that it is done but does not leave. */
  async function inspectAll(): Promise<void> {
    for (const [sessionId, entry] of watched) {
      const { pid, processStart } = entry.session;
      const alive = pid !== null && processStart !== null && isAlive({ pid, start: processStart });
      if (!alive) wake(entry.agentId);
      else
        await endHung(sessionId, entry).catch((error: unknown) =>
          shop.log.error({ error: messageOf(error) }, 'a look at a session failed'),
        );
    }
  }

  async function endHung(sessionId: string, entry: Watched): Promise<void> {
    const facts = await agentView(shop.store.db, entry.agentId);
    if (facts?.session?.id !== sessionId || facts.agent.worktree === null) return;
    if ((await readSignal(facts.agent.worktree)) === null) return void (entry.signalSeenAtMs = null);
    entry.signalSeenAtMs ??= performance.now();
    if (performance.now() - entry.signalSeenAtMs < shop.timing.hungAfterSignalMs) return;
    await inLane(entry.agentId, async () => {
      if (watched.has(sessionId)) await endProcesses(entry.session, facts.agent);
    });
    wake(entry.agentId);
  }

  return {
    ingest,
    wake,
    settle: (agentId) => inLane(agentId, () => reconcile(agentId)),
    async adopt() {
      let adopted = 0;
      let ended = 0;
      for (const { agent, session } of await agentsToReconcile(shop.store.db)) {
        if (session !== null && session.endedAt === null && session.startedAt !== null) {
          const alive = await adoptSession(shop, agent, session);
          if (alive) adopted++;
          else ended++;
          await attach(agent, session);
        }
      }
      for (const { agent } of await agentsToReconcile(shop.store.db)) wake(agent.id);
      return { adopted, ended };
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await Promise.all([...lanes.values()].map((lane) => lane.serially(async () => {})));
      await ingest.close();
    },
  };
}

/** Notes that a process of an earlier daemon still runs and is ours again. */
async function adoptSession(shop: Workshop, agent: Agent, session: Session): Promise<boolean> {
  const { alive, exit } = await findSession(sessionDirectory(shop.home, session.id));
  if (!alive || exit !== null || session.pid === null) return false;
  const { no, pid } = session;
  await shop.store.write(async (tx) => {
    tx.emit({ type: 'session.adopted', projectId: agent.projectId, agentId: agent.id, data: { no, pid: pid ?? 0 } });
  });
  return true;
}
