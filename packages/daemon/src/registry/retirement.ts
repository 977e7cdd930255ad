import { endReasonOf, hears, withdrawalText } from '@pawl/core/supervision/complete';
import { nextStep } from '@pawl/core/sessions/next-step';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { toldOfCompletion } from '@pawl/store/mail/mail';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordRetirement } from './kill-record.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';

/**
 * Ends a completed agent of which nothing runs any more, in the transaction that ends its last run, so no state in
 * between is visible. `failure` is why its last run failed, if it did.
 */
export async function retireIfDone(
  tx: WriteTransaction,
  agentId: string,
  failure: string | null = null,
): Promise<void> {
  const facts = await agentView(tx.db, agentId);
  if (facts === null || facts.run?.outcome === null || nextStep(facts).do !== 'retire') return;
  const { completion } = facts.agent;
  if (completion === null) return;
  const reason = endReasonOf({ ...completion, failure: completion.failure ?? failure });
  await recordRetirement(tx, facts.agent, reason);
}

/** Withdraws a completion because the agent has asked a question: it lives on, and completes again later. */
export async function withdrawCompletion(tx: WriteTransaction, agentId: string): Promise<void> {
  const agent = await agentById(tx.db, agentId);
  if (agent === null || agent.completion === null || agent.endedAt !== null) return;
  await updateAgent(tx, agentId, { completion: null });
  const notified: string[] = [];
  for (const id of await toldOfCompletion(tx.db, agentId, agent.completion.at)) {
    const to = await agentById(tx.db, id);
    if (to === null || !hears(to)) continue;
    await recordMail(tx, { from: agent, to, kind: 'completion' }, shortBody(withdrawalText(agent)));
    notified.push(id);
  }
  tx.emit({ type: 'agent.completion_withdrawn', projectId: agent.projectId, agentId, data: { notified } });
}
