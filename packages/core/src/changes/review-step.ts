import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run } from '@pawl/schema/record';
import { isEjected } from './change-state.ts';

export type ReviewFacts = {
  change: Change;
  /** Unaddressed blocking comments. */
  blocking: number;
  /** The change's reviewer, with its latest run. */
  reviewer: { agent: Agent; run: Run | null } | null;
};

export type ReviewStep =
  /** Nothing to review, or the review is over. */
  | { do: 'nothing' }
  /** A review is under way. */
  | { do: 'wait' }
  /** Start a review, after this many failed ones of the same head. */
  | { do: 'begin'; failed: number }
  | { do: 'end' }
  /** Too many reviews of this head failed; ask a person. */
  | { do: 'give-up'; failed: number };

/**
 * Decides the next step in reviewing a change's head. A reviewer's base commit is the head it reviews, which tells
 * current reviews from earlier ones; `reviews` counts failed ones of the same head.
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

/** Only the review and the checks are missing. */
function isWanted({ change, blocking }: ReviewFacts): boolean {
  if (change.queuedAt === null || change.hold !== null || change.examinedHead !== change.head) return false;
  if (change.findings.length > 0 && change.approvedHead !== change.head) return false;
  return blocking === 0 && !isEjected(change);
}

/** A reviewer that was stopped or asked a person may still continue. */
function standingOf({ agent, run }: NonNullable<ReviewFacts['reviewer']>): 'at-work' | 'done' | 'failed' {
  if (agent.completion !== null) return agent.completion.failure === null ? 'done' : 'failed';
  if (run?.outcome === 'completed' && run.questions === null) return 'done';
  if (agent.endedAt !== null || run?.outcome === 'failed') return 'failed';
  return 'at-work';
}
