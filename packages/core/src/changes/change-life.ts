import type { Change } from '@pawl/schema/change';

/** What is known of a change when it is opened. */
type Given = Pick<
  Change,
  'id' | 'projectId' | 'agentId' | 'taskId' | 'branch' | 'head' | 'base' | 'title' | 'summary' | 'openedAt' | 'queuedAt'
>;

/** A change of which nothing has become yet. */
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
 * What a change takes over from the one that was closed before it: to close something and to propose it again takes nothing
 * away that somebody has against it, and begins no new count.
 */
export function inheritedFrom(closed: Change, head: string): Partial<Change> {
  const { hold, returns, ejection, retriedAt } = closed;
  return closed.head === head ? { hold, returns, ejection, retriedAt } : { hold, returns };
}

/** Whether a change is merged or closed. */
export function isOver({ mergedAt, closedAt }: Pick<Change, 'mergedAt' | 'closedAt'>): boolean {
  return mergedAt !== null || closedAt !== null;
}
