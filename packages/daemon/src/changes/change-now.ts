import { isOver } from '@pawl/core/changes/change-life';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { changeById } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';

export async function changeNow(db: Database, id: string): Promise<Change> {
  const change = await changeById(db, id);
  if (change === null) throw new PawlError('not_found', `There is no change ${id}.`);
  return change;
}

/** Throws if the change is merged or closed. */
export async function openOne(db: Database, id: string): Promise<Change> {
  const change = await changeNow(db, id);
  if (!isOver(change)) return change;
  const how = change.mergedAt === null ? 'closed' : 'merged';
  throw new PawlError('conflict', `The change ${id.slice(0, 8)} is ${how}.`, {
    hint: 'Propose what is left as another one: pawl change open',
  });
}

/**
 * Throws while the target branch is about to move with this change: it is too late to withdraw or replace it. Holding
 * it is still allowed, and counts if it does not go in.
 */
export async function refuseWhileAdvancing(db: Database, { id, projectId }: Change): Promise<void> {
  const advance = (await queueOf(db, projectId))?.advance ?? null;
  if (advance === null || !advance.changes.some((each) => each.id === id)) return;
  throw new PawlError('busy', `The change ${id.slice(0, 8)} is being merged right now.`, {
    hint: 'Look again in a moment: pawl queue',
  });
}

/** The agent that repairs a red target branch, or null. */
export async function fixerNow(db: Database, { projectId }: Change): Promise<string | null> {
  return (await queueOf(db, projectId))?.emergency?.fixerId ?? null;
}

/** The common fields of a change's events. */
export function about({ projectId, agentId }: Change): { projectId: string; agentId: string | null } {
  return { projectId, agentId };
}

/** Requeues a change at the end, so that running checks of others are not wasted. */
export function placeAtEnd({ queuedAt }: Change, now: number): { queuedAt: number | null } {
  return { queuedAt: queuedAt === null ? null : now };
}
