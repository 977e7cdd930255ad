import { refuseAdopted } from '@pawl/core/agents/adopted';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Agent, Run } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { endRun, openRuns, runById, runTree } from '@pawl/store/sessions/runs';
import { taskAfterRun } from '../../tasks/tasks.ts';
import type { SignalParts } from './signal-parts.ts';

/** Stops an agent's session and waits until its processes have exited. Has no effect on an idle agent. */
export async function stop({ platform, reconciler }: SignalParts, agentId: string): Promise<void> {
  await platform.store.write(async (tx) => {
    const facts = await agentView(tx.db, agentId);
    if (facts !== null) refuseAdopted(facts.agent);
    if (facts?.run?.outcome !== null || facts.agent.stopRequestedAt !== null) return;
    await updateAgent(tx, agentId, { stopRequestedAt: tx.now });
    tx.emit({ type: 'agent.stopping', projectId: facts.agent.projectId, agentId, data: { by: 'person' } });
  });
  crashPoint('stop.after_request');
  await reconciler.settle(agentId);
}

/** Stops all working agents, including those that wait for a slot. */
export async function stopAll({ platform, reconciler }: SignalParts): Promise<string[]> {
  const stopped = await platform.store.write(async (tx) => {
    const agents: string[] = [];
    for (const { agentId } of await openRuns(tx.db)) {
      await updateAgent(tx, agentId, { stopRequestedAt: tx.now });
      agents.push(agentId);
    }
    if (agents.length > 0) tx.emit({ type: 'fleet.stopping', data: { by: 'person', count: agents.length, agents } });
    return agents;
  });
  crashPoint('stop.after_request');
  await Promise.all(stopped.map((agentId) => reconciler.settle(agentId)));
  return stopped;
}

/** Cancels a run and all runs it started. The agents stay; their processes for these runs end. */
export async function cancel(
  { platform, reconciler }: SignalParts,
  runId: string,
  detail = 'cancelled on request',
): Promise<string[]> {
  const cancelled = await platform.store.write(async (tx) => {
    const ended: Run[] = [];
    for (const run of await runTree(tx.db, runId)) {
      if (!(await endRun(tx, run.id, { outcome: 'cancelled', detail, questions: null }))) continue;
      ended.push(run);
      const agent = await agentById(tx.db, run.agentId);
      if (agent !== null) await taskAfterRun(tx, agent, { outcome: 'cancelled', detail, questions: null });
      const about = { projectId: run.projectId, agentId: run.agentId };
      tx.emit({ type: 'run.ended', ...about, data: { status: 'cancelled', detail } });
    }
    return ended;
  });
  crashPoint('cancel.after_commit');
  await reconciler.endSessions(cancelled.map((run) => run.agentId));
  return cancelled.map((run) => run.id);
}

/** The run to cancel: by id, or the open run of an agent; null if it is idle. */
export async function runToCancel(
  { platform }: SignalParts,
  reference: string,
  find: (reference: string) => Promise<Agent>,
): Promise<string | null> {
  if ((await runById(platform.store.db, reference)) !== null) return reference;
  const agent = await find(reference);
  refuseAdopted(agent);
  const facts = await agentView(platform.store.db, agent.id);
  return facts?.run?.outcome === null ? facts.run.id : null;
}
