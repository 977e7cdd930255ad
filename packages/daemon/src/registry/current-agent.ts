import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { nearestLivingAncestor } from '@pawl/store/agents/family';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { rootAgent } from '../platform/root-agent.ts';

/** The agent that the person acts as: the one last switched to, while it lives; otherwise agent 0. */
export async function currentAgent(db: Database): Promise<Agent> {
  const { currentAgentId } = await daemonState(db);
  const agent = currentAgentId === null ? null : await agentById(db, currentAgentId);
  if (agent === null) return rootAgent(db);
  if (agent.endedAt === null) return agent;
  return (await nearestLivingAncestor(db, agent.id)) ?? rootAgent(db);
}

/** Switches the person to another agent, within a larger transaction. */
export async function switchPerson(tx: WriteTransaction, agentId: string): Promise<void> {
  const from = await currentAgent(tx.db);
  if (from.id === agentId) return;
  await updateDaemonState(tx, { currentAgentId: agentId });
  tx.emit({ type: 'desk.switched', agentId, data: { from: from.id, to: agentId } });
}
