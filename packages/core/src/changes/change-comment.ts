import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';

/** Whether a comment blocks, by how it begins. */
export function kindOfComment(body: string): ChangeComment['kind'] {
  return /^\s*\[blocking\]/i.test(body) ? 'blocking' : 'note';
}

/** The comments that block, and that nobody has addressed. */
export function blockingOf(comments: readonly ChangeComment[]): ChangeComment[] {
  return comments.filter(({ kind, addressedAt }) => kind === 'blocking' && addressedAt === null);
}

/** Whether a person has said something of an earlier head: whether this one settles it may be seen by a review. */
export function isForReview({ agentId, head }: ChangeComment, change: Pick<Change, 'head'>): boolean {
  return agentId === null && head !== change.head;
}

/**
 * Refuses a comment for which there is no room. Nobody can fill a change with remarks so that an objection finds none: there
 * is room that only objections and answers have, and some that only persons have.
 */
export function refuseTooMany(
  earlier: readonly Pick<ChangeComment, 'agentId'>[],
  given: { agentId: string | null; isRemark: boolean },
): void {
  const { agentId, isRemark } = given;
  const own = earlier.filter((comment) => comment.agentId === agentId).length;
  if (agentId !== null && own >= limits.changeCommentsOfOne) {
    throw new PawlError('busy', `An agent has ${limits.changeCommentsOfOne} comments on a change, and no more.`);
  }
  const { changeComments, changeCommentsOfAgents, changeRemarks } = limits;
  const most = agentId === null ? changeComments : isRemark ? changeRemarks : changeCommentsOfAgents;
  if (earlier.length < most) return;
  throw new PawlError('busy', `There are ${earlier.length} comments on this change already.`, {
    hint: agentId === null ? 'Hold it instead: pawl change block' : 'What is left is for others.',
  });
}
