import { limits } from '@pawl/schema/limit';
import type { Change } from '@pawl/schema/change';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { isOver } from '../changes/change-life.ts';

/**
 * Whether an ephemeral agent has no turn left: its last run has ended and no process runs. Excludes errands, which a
 * person ends, and plain forks, which continue their parent's conversation.
 */
export function isAtRest({ agent, run, session }: AgentFacts): boolean {
  if (agent.class !== 'ephemeral' || agent.mode === 'errand') return false;
  if (agent.parentId === null || agent.adopted !== null || agent.forkMessageId !== 0) return false;
  if (agent.endedAt !== null || agent.completion !== null) return false;
  if (session !== null && session.endedAt === null) return false;
  return run !== null && run.outcome !== null && run.questions === null;
}

/** Whether an agent at rest has finished its task: its last run completed, and it was not stopped. */
export function isDoneWithTask(facts: AgentFacts): boolean {
  return isAtRest(facts) && facts.agent.stopRequestedAt === null && facts.run?.outcome === 'completed';
}

export type LeavingFacts = AgentFacts & {
  /** Changes that it opened, works on, stands in for, or reviews. */
  changes: readonly Change[];
  /** It repairs main, which is still red. */
  repairsMain: boolean;
  /** Unread mail will start its next turn. */
  hasMail: boolean;
  /** A person has switched to it. */
  isWatched: boolean;
  /** A subagent of it is working. */
  hasSubagentAtWork: boolean;
  /** The run that delegated to it is still open, and may look at its files. */
  isDelegatorAtWork: boolean;
};

/**
 * Why an agent at rest stays for now; null if it may leave. It stays until its change is merged or closed, so that it
 * can repair it, or until its review is over. With nothing proposed it stays a few minutes, for follow-ups. One whose
 * last run failed leaves only if its change was settled after that: a person looks at every other failure.
 */
export function reasonToStay(facts: LeavingFacts, now: number): string | null {
  const { agent, run, changes } = facts;
  if (facts.hasMail) return 'it has unread mail';
  if (facts.hasSubagentAtWork) return 'its subagent is at work';
  if (facts.isDelegatorAtWork) return 'the agent that delegated to it is at work';
  const own = changes.filter(({ agentId, standInId }) => agentId === agent.id || standInId === agent.id);
  const waiting = own.find((change) => !isOver(change));
  if (waiting !== undefined) return `its change ${waiting.id} is open`;
  // The agent that delegated already has a subagent's result, good or bad.
  if (!isDoneWithTask(facts) && agent.kind === 'main') {
    // Another agent may have continued a change that this one opened; once it is settled, there is nothing left to
    // repair.
    const authored = changes.filter((change) => change.authorId === agent.id && isOver(change));
    const settled = [...own, ...authored].map(({ mergedAt, closedAt }) => mergedAt ?? closedAt ?? -Infinity);
    const settledAt = Math.max(...settled);
    return settledAt >= (run?.endedAt ?? Infinity) ? null : 'its last run did not complete';
  }
  const reviewed = changes.filter(({ reviewerId }) => reviewerId === agent.id);
  const isPending = (change: Change) =>
    !isOver(change) && change.head === agent.baseCommit && change.reviewedHead !== change.head;
  if (reviewed.some(isPending)) return 'its review is not over';
  if (facts.repairsMain) return 'it repairs main, which is red';
  if (own.length > 0 || reviewed.length > 0) return null;
  if (facts.isWatched) return 'you have switched to it';
  const restedMs = now - (run?.endedAt ?? 0);
  return restedMs >= 0 && restedMs < limits.leaveMs ? 'it finished a moment ago' : null;
}
