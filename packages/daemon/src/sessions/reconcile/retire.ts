import { nextStep } from '@pawl/core/sessions/next-step';
import { agentView } from '@pawl/store/agents/agent-views';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { retireIfDone } from '../../registry/retirement.ts';
import { taskAfterRun } from '../../tasks/tasks.ts';
import { recordEnd } from './verdict.ts';

/**
 * Ends a completed agent of which nothing runs: its open run, if any, its task and itself. Its final report decides the
 * outcome of all.
 */
export async function retire(tx: WriteTransaction, agentId: string): Promise<void> {
  const facts = await agentView(tx.db, agentId);
  if (facts === null || nextStep(facts).do !== 'retire' || facts.agent.completion === null) return;
  const { agent, run } = facts;
  const { summary, failure } = facts.agent.completion;
  const end =
    failure === null
      ? ({ outcome: 'completed', detail: summary ?? '', questions: null } as const)
      : ({ outcome: 'failed', detail: failure, questions: null } as const);
  if (run !== null && run.outcome === null) return recordEnd(tx, { ...facts, run }, { next: 'end', ...end });
  await taskAfterRun(tx, agent, { ...end, detail: summary ?? failure });
  await retireIfDone(tx, agentId);
}
