import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run } from '@pawl/schema/record';
import { isEjected } from './change-state.ts';

export type ReviewFacts = {
  change: Change;
  /** Comments that block it, and that nobody has addressed. */
  blocking: number;
  /** Whom the change names as its reviewer, with its latest run. */
  reviewer: { agent: Agent; run: Run | null } | null;
};

export type ReviewStep =
  /** There is nothing to review, now or any more. */
  | { do: 'nothing' }
  /** Somebody is at it. */
  | { do: 'wait' }
  /** After so many reviews of this head that came to nothing. */
  | { do: 'begin'; failed: number }
  | { do: 'end' }
  /** So many reviews of this head came to nothing: a person is asked. */
  | { do: 'give-up'; failed: number };

/**
 * What is next for the review of a change's head. A reviewer begins with the very commit that it reviews, and so is known to be
 * one for this head or for an earlier one; `reviews` of a change counts those of the same head that came to nothing.
 */
export function nextReview(facts: ReviewFacts): ReviewStep {
  const { change, reviewer } = facts;
  if (change.reviewedHead === change.head) return { do: 'nothing' };
  const isForHead = reviewer !== null && reviewer.agent.baseCommit === change.head;
  if (!isForHead) return isWanted(facts) ? { do: 'begin', failed: 0 } : { do: 'nothing' };
  const standing = standingOf(reviewer);
  if (standing === 'at-work') return { do: 'wait' };
  if (standing === 'done') return { do: 'end' };
  if (change.reviews >= limits.reviewAttempts) return { do: 'nothing' };
  const failed = change.reviews + 1;
  if (failed >= limits.reviewAttempts) return { do: 'give-up', failed };
  return isWanted(facts) ? { do: 'begin', failed } : { do: 'nothing' };
}

/** Nothing but the review, and the checks, stand between it and the target branch. */
function isWanted({ change, blocking }: ReviewFacts): boolean {
  if (change.queuedAt === null || change.hold !== null || change.examinedHead !== change.head) return false;
  if (change.findings.length > 0 && change.approvedHead !== change.head) return false;
  return blocking === 0 && !isEjected(change);
}

/** Whoever was stopped, or has asked a person, may still go on. */
function standingOf({ agent, run }: NonNullable<ReviewFacts['reviewer']>): 'at-work' | 'done' | 'failed' {
  if (agent.completion !== null) return agent.completion.failure === null ? 'done' : 'failed';
  if (run?.outcome === 'completed' && run.questions === null) return 'done';
  if (agent.endedAt !== null || run?.outcome === 'failed') return 'failed';
  return 'at-work';
}
