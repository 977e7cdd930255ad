import type { Change, ChangeComment } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';

/** Whether a comment blocks, by its prefix. */
export function kindOfComment(body: string): ChangeComment['kind'] {
  return /^\s*\[blocking\]/i.test(body) ? 'blocking' : 'note';
}

/** Blocking comments that are not addressed. */
export function blockingOf(comments: readonly ChangeComment[]): ChangeComment[] {
  return comments.filter(({ kind, addressedAt }) => kind === 'blocking' && addressedAt === null);
}

/** Whether a comment is a person's, about an earlier head. A review can decide whether the new head settles it. */
export function isForReview({ agentId, head }: ChangeComment, change: Pick<Change, 'head'>): boolean {
  return agentId === null && head !== change.head;
}

/**
 * Refuses a comment over the limits. Part of the room is reserved for objections and answers, and part for people, so
 * nobody can crowd out an objection.
 */
export function refuseTooMany(
  earlier: readonly Pick<ChangeComment, 'agentId'>[],
  given: { agentId: string | null; isRemark: boolean },
): void {
  const { agentId, isRemark } = given;
  const own = earlier.filter((comment) => comment.agentId === agentId).length;
  if (agentId !== null && own >= limits.changeCommentsOfOne) {
    throw new PawlError('busy', `An agent may make at most ${limits.changeCommentsOfOne} comments on a change.`);
  }
  const { changeComments, changeCommentsOfAgents, changeRemarks } = limits;
  const most = agentId === null ? changeComments : isRemark ? changeRemarks : changeCommentsOfAgents;
  if (earlier.length < most) return;
  throw new PawlError('busy', `There are ${earlier.length} comments on this change already.`, {
    hint: agentId === null ? 'Block it instead: pawl change block' : 'The rest is reserved for others.',
  });
}
