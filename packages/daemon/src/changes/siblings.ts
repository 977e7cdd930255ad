import { isEjected } from '@pawl/core/changes/change-state';
import { nameOfChange } from '@pawl/core/changes/notice-text';
import type { Change } from '@pawl/schema/change';
import { changesOfTask } from '@pawl/store/changes/changes';
import { closeWithLearnings } from './change-close.ts';
import type { QueueContext } from './queue-context.ts';
import type { RepairParts } from './repair/staff.ts';

/**
 * Closes a change whose task another change has completed, and keeps its learnings. Two changes for one task are
 * welcome, and the first that passes is merged; the other is retried on the new main, and closed here if it cannot be
 * merged unchanged. Returns whether it was closed.
 */
export async function retireDuplicate(
  { platform }: RepairParts,
  { queue }: QueueContext,
  change: Change,
): Promise<boolean> {
  if (change.taskId === null) return false;
  const siblings = await changesOfTask(platform.store.db, change.taskId);
  const winner = siblings.find(({ id, mergedAt }) => id !== change.id && mergedAt !== null);
  if (winner === undefined) return false;
  const why = isEjected(change) ? (change.ejection?.reason ?? '') : 'comments blocked it';
  const reason = `its task is done: ${nameOfChange(winner)} was merged first`;
  const learnings = `Another change for the same task went into ${queue.branch} first (${winner.id}, as ${winner.mergedCommit ?? winner.head}). This one was tried on top of it and could not go in: ${why}`;
  await closeWithLearnings(platform, change, { reason, learnings, by: 'pawl' });
  return true;
}
