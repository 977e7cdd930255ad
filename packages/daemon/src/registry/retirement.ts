import { endReasonOf, hears, withdrawalText } from '@pawl/core/supervision/complete';
import { nextStep } from '@pawl/core/sessions/next-step';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { toldOfCompletion } from '@pawl/store/mail/mail';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordRetirement } from './kill-record.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';

/**
 * Ends an agent that has said that it is done for good, and of which nothing runs any more: in the transaction that ends
 * the last of it, so that nobody ever finds it in between. `failure` is why its last run failed, where it did.
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

/** Whoever asks a question after all is not done: it lives on, completes again when it is, and who was told hears of it. */
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
