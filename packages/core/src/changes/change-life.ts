import type { Change } from '@pawl/schema/change';

type Given = Pick<
  Change,
  'id' | 'projectId' | 'agentId' | 'taskId' | 'branch' | 'head' | 'base' | 'title' | 'summary' | 'openedAt' | 'queuedAt'
>;

/** Makes the record of a change that was just opened. */
export function newChange(given: Given & Partial<Change>): Change {
  return {
    authorId: given.agentId,
    retriedAt: null,
    isolatedAt: null,
    hold: null,
    findings: [],
    approvedHead: null,
    ejection: null,
    examinedHead: null,
    reviewedHead: null,
    reviewerId: null,
    reviews: 0,
    standInId: null,
    returns: 0,
    forgeRef: null,
    askedHead: null,
    passedHead: null,
    mergedAt: null,
    mergedCommit: null,
    closedAt: null,
    closeReason: null,
    ...given,
  };
}

/**
 * Carries facts over from the closed change that this one replaces, so that reopening drops no objection and resets no
 * counter.
 */
export function inheritedFrom(closed: Change, head: string): Partial<Change> {
  const { hold, returns, ejection, retriedAt } = closed;
  return closed.head === head ? { hold, returns, ejection, retriedAt } : { hold, returns };
}

/** Whether a change is merged or closed. */
export function isOver({ mergedAt, closedAt }: Pick<Change, 'mergedAt' | 'closedAt'>): boolean {
  return mergedAt !== null || closedAt !== null;
}
