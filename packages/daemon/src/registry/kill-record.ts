import { planKill } from '@pawl/core/agents/kill';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Agent } from '@pawl/schema/record';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { descendants, livingChildren, nearestLivingAncestor, supervisedBy } from '@pawl/store/agents/family';
import { appendMessage } from '@pawl/store/sessions/messages';
import { endRunsOf } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { currentAgent, switchPerson } from './current-agent.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { releaseTasks } from '../tasks/tasks.ts';

/** The agents that a kill ended, children before parents, and those that live on under another supervisor. */
export type Killed = { killed: Agent[]; resupervised: Agent[] };

/** Records a kill in one transaction, with one event. */
export async function recordKill(
  tx: WriteTransaction,
  request: { target: Agent; killer: Agent; cascade: boolean; reason?: string },
): Promise<Killed> {
  const target = (await agentById(tx.db, request.target.id)) ?? request.target;
  const { killer, cascade } = request;
  const { dying, orphans, heir } = await recordDeath(tx, target, cascade, request.reason ?? 'killed');
  if (dying.length === 0) return { killed: [], resupervised: [] };
  const fact = { target: target.id, killedBy: killer.id, cascade, count: dying.length };
  // A killed agent's history is over, so a self-kill is noted in its parent's history, any other in the killer's.
  const witness = dying.some((agent) => agent.id === killer.id) ? heir : killer;
  await appendMessage(tx, {
    agentId: witness.id,
    kind: 'agent_killed',
    content: dying.length === 1 ? `killed ${target.alias}` : `killed ${target.alias} and ${dying.length - 1} more`,
    data: fact,
  });
  tx.emit({
    type: 'agent.killed',
    projectId: target.projectId,
    agentId: target.id,
    data: { ...fact, agents: ids(dying), resupervised: ids(orphans) },
  });
  crashPoint('kill.before_commit');
  return { killed: dying, resupervised: orphans };
}

/** Records the end of a completed agent: its subagents end with it, its other children live on. */
export async function recordRetirement(tx: WriteTransaction, target: Agent, reason: string): Promise<void> {
  const { dying, orphans } = await recordDeath(tx, target, false, reason);
  if (dying.length === 0) return;
  tx.emit({
    type: 'agent.ended',
    projectId: target.projectId,
    agentId: target.id,
    data: { reason, agents: ids(dying), resupervised: ids(orphans) },
  });
}

/** The part that every death shares; the caller emits the event in the same transaction. */
async function recordDeath(
  tx: WriteTransaction,
  target: Agent,
  cascade: boolean,
  reason: string,
): Promise<{ dying: Agent[]; orphans: Agent[]; heir: Agent }> {
  const family = cascade ? await descendants(tx.db, target.id) : [...(await livingChildren(tx.db, target.id)), target];
  const { dying, orphans } = planKill(target, family, await supervisedBy(tx.db, target.id), cascade);
  const heir = (await nearestLivingAncestor(tx.db, target.id)) ?? (await rootAgent(tx.db));
  if (dying.length === 0) return { dying, orphans, heir };
  // Move the person away before the agent dies.
  const current = await currentAgent(tx.db);
  if (dying.some((agent) => agent.id === current.id)) await switchPerson(tx, heir.id);
  for (const agent of dying) {
    const endReason = agent.id === target.id ? reason : `killed with ${target.alias}`;
    await updateAgent(tx, agent.id, { endedAt: tx.now, endReason });
    crashPoint('kill.after_agent');
  }
  for (const agent of orphans) await updateAgent(tx, agent.id, { supervisorId: heir.id });
  await endRunsOf(tx, ids(dying), { outcome: 'cancelled', detail: 'killed', questions: null });
  await releaseTasks(tx, ids(dying));
  crashPoint('kill.after_runs');
  return { dying, orphans, heir };
}

function ids(agents: readonly Agent[]): string[] {
  return agents.map((agent) => agent.id);
}

/** Marks an agent dead that cannot be started and has no run to fail. */
export async function endAgent(store: Store, agent: Agent, reason: string): Promise<void> {
  await store.write(async (tx) => {
    await recordKill(tx, { target: agent, killer: await rootAgent(tx.db), cascade: false, reason });
  });
}
