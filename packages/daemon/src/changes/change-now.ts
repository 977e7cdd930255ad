import { isOver } from '@pawl/core/changes/change-life';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { changeById } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';

/** The change with this id. */
export async function changeNow(db: Database, id: string): Promise<Change> {
  const change = await changeById(db, id);
  if (change === null) throw new PawlError('not_found', `There is no change ${id}.`);
  return change;
}

/** The change, if something can still be done to it. */
export async function openOne(db: Database, id: string): Promise<Change> {
  const change = await changeNow(db, id);
  if (!isOver(change)) return change;
  const how = change.mergedAt === null ? 'closed' : 'merged';
  throw new PawlError('conflict', `The change ${id.slice(0, 8)} is ${how}.`, {
    hint: 'Propose what is left as another one: pawl change open',
  });
}

/**
 * From the moment at which the target branch is about to move, it is too late to take a change back or to put something else in
 * its place. To hold it is not: should it not have gone in after all, that counts.
 */
export async function refuseWhileAdvancing(db: Database, { id, projectId }: Change): Promise<void> {
  const advance = (await queueOf(db, projectId))?.advance ?? null;
  if (advance === null || !advance.changes.some((each) => each.id === id)) return;
  throw new PawlError('busy', `The change ${id.slice(0, 8)} is going in at this very moment.`, {
    hint: 'Look again in a moment: pawl queue',
  });
}

/** Who repairs the target branch while it is red; null when it is not, or nobody does. */
export async function fixerNow(db: Database, { projectId }: Change): Promise<string | null> {
  return (await queueOf(db, projectId))?.emergency?.fixerId ?? null;
}

/** What an event about a change is about. */
export function about({ projectId, agentId }: Change): { projectId: string; agentId: string | null } {
  return { projectId, agentId };
}

/** Its place when something that kept it out is gone: at the end, so that nobody else's checks are for nothing. */
export function placeAtEnd({ queuedAt }: Change, now: number): { queuedAt: number | null } {
  return { queuedAt: queuedAt === null ? null : now };
}
