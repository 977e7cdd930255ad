import type { AgentFacts } from '@pawl/core/next-step';
import { nextStep } from '@pawl/core/next-step';
import { findSession } from '@pawl/host/find-session';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import { agentsToReconcile, agentView } from '@pawl/store/agent-views';
import type { Ingest } from '../ingest/ingest.ts';
import type { Workshop } from '../workshop.ts';
import { sessionDirectory } from '../workshop.ts';
import { finishSession, recordEnd } from './finish.ts';
import { createGate, createLanes } from '@pawl/core/turn-taking';
import { isRunning, watchSessions } from './session-watch.ts';
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

/** Starts the loop of one daemon. No two steps of one agent ever overlap; agents do not wait for each other. */
export function startReconciler(shop: Workshop): Reconciler {
  const { db } = shop.store;
  const lanes = createLanes();
  const startGate = createGate(limits.parallelStarts);
  const watch = watchSessions(shop, wake);
  let closed = false;

  function wake(agentId: string): void {
    if (closed) return;
    settle(agentId).catch((error: unknown) => {
      shop.log.error({ agent: agentId, error: messageOf(error) }, 'an agent could not be looked at; tried again');
      wakeLater(agentId);
    });
  }

  function wakeLater(agentId: string): void {
    setTimeout(() => wake(agentId), retryMs).unref();
  }

  function settle(agentId: string): Promise<void> {
    return lanes.run(agentId, async () => {
      while (!closed) {
        const facts = await agentView(db, agentId);
        if (facts === null || !(await tryStep(facts))) return;
      }
    });
  }

  /** Does the next step, or records why it failed; true when there may be another one at once. */
  async function tryStep(facts: AgentFacts): Promise<boolean> {
    try {
      return await doStep(facts);
    } catch (error) {
      shop.log.error({ agent: facts.agent.alias, error: messageOf(error) }, 'a step failed');
      // Want of disk passes; whatever else is wrong would be wrong again.
      if (!(error instanceof PawlError && error.code === 'unavailable')) return giveUp(facts, messageOf(error));
      wakeLater(facts.agent.id);
      return false;
    }
  }

  async function doStep(facts: AgentFacts): Promise<boolean> {
    const { agent, session } = facts;
    switch (nextStep(facts).do) {
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
        return session !== null && watchOrFinish(agent, session);
      case 'stop-session':
        if (session !== null) await stopAndFinish(agent, session);
        return true;
      case 'cancel-run':
        await endRunNow(facts, 'cancelled', 'stopped on request');
        return true;
      case 'rest':
        return false;
    }
  }

  /** Looks after a running session; true when it had ended and is finished now. */
  async function watchOrFinish(agent: Agent, session: Session): Promise<boolean> {
    await watch.attach(agent, session);
    const { alive, exit } = await findSession(sessionDirectory(shop.home, session.id));
    if (exit === null && alive && isRunning(session)) return false;
    await finish(agent.id, session.id);
    return true;
  }

  async function stopAndFinish(agent: Agent, session: Session): Promise<void> {
    await watch.attach(agent, session);
    await watch.endProcesses(agent, session);
    await finish(agent.id, session.id);
  }

  async function finish(agentId: string, sessionId: string): Promise<void> {
    const facts = await agentView(db, agentId);
    if (facts?.session?.id !== sessionId || facts.session.endedAt !== null) return;
    await finishSession(shop, watch.ingest, facts);
    watch.release(sessionId);
  }

  async function endRunNow(facts: AgentFacts, outcome: 'failed' | 'cancelled', detail: string): Promise<void> {
    const { run } = facts;
    if (run === null) return;
    await shop.store.write((tx) => recordEnd(tx, { ...facts, run }, { next: 'end', outcome, detail, questions: null }));
  }

  /** Ends what runs and fails the run with the reason. */
  async function giveUp(facts: AgentFacts, detail: string): Promise<boolean> {
    const { agent, session } = facts;
    if (session !== null && session.endedAt === null) await stopAndFinish(agent, session);
    await endRunNow(facts, 'failed', detail);
    return true;
  }

  return {
    ingest: watch.ingest,
    wake,
    settle,
    async adopt() {
      const found = await agentsToReconcile(db);
      const running = found.filter(
        ({ session }) => session !== null && session.startedAt !== null && session.endedAt === null,
      );
      let adopted = 0;
      for (const { agent, session } of running) {
        if (session === null) continue;
        if (await adoptSession(shop, agent, session)) adopted++;
        await watch.attach(agent, session);
      }
      for (const { agent } of found) wake(agent.id);
      return { adopted, ended: running.length - adopted };
    },
    async close() {
      closed = true;
      await lanes.drain();
      await watch.close();
    },
  };
}

/** Notes that a process of an earlier daemon still runs and is ours again. */
async function adoptSession(shop: Workshop, agent: Agent, session: Session): Promise<boolean> {
  const { alive, exit } = await findSession(sessionDirectory(shop.home, session.id));
  const { no, pid } = session;
  if (!alive || exit !== null || pid === null) return false;
  await shop.store.write(async (tx) => {
    tx.emit({ type: 'session.adopted', projectId: agent.projectId, agentId: agent.id, data: { no, pid } });
  });
  return true;
}
