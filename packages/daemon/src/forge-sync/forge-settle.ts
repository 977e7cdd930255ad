import type { ForgeChange } from '@pawl/core/port/forge';
import type { Change } from '@pawl/schema/change';
import { changeById, updateChange } from '@pawl/store/changes/changes';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { ForgeContext } from './forge-context.ts';
import { rememberOnForge } from './forge-memory.ts';
import { noteClosed, noteMerged } from '../changes/notices.ts';

/**
 * Closes or merges a change here that ended on the forge. A merge there is on main whatever was checked: the queue
 * finds main moved, and checks it. False if the change is still open.
 */
export async function settleFromForge(context: ForgeContext, change: Change, there: ForgeChange): Promise<boolean> {
  if (there.state === 'open') return false;
  const { platform, project, link } = context;
  await platform.store.write(async (tx) => {
    const now = await changeById(tx.db, change.id);
    if (now === null || now.mergedAt !== null || now.closedAt !== null) return;
    const mark = { projectId: project.id, agentId: now.agentId };
    await rememberOnForge(tx, now.id, { isClosed: true });
    if (there.state === 'merged') {
      const { head } = there;
      const commit = there.mergedCommit ?? head;
      await updateChange(tx, now.id, { mergedAt: tx.now, mergedCommit: commit, head });
      tx.emit({ type: 'change.merged', ...mark, data: { changeId: now.id, head, commit } });
      return noteMerged(tx, { platform, project, changes: [{ ...now, head }], commit });
    }
    const reason = `it was closed on ${link.forge.name} (#${there.ref})`;
    await updateChange(tx, now.id, { closedAt: tx.now, closeReason: reason });
    tx.emit({ type: 'change.closed', ...mark, data: { changeId: now.id, reason, learnings: null } });
    return noteClosed(tx, { platform, project, change: now, reason, learnings: null });
  });
  return true;
}

/** Holds a change because of an obstacle on the forge, or lifts that. */
export async function holdForForge(
  { platform, link }: ForgeContext,
  { id }: Change,
  reason: string | null,
): Promise<void> {
  await holdBy(platform, { id, by: link.forge.name, reason });
}

/** Holds a change on behalf of a forge, or lifts that. Holds by others stay. */
export async function holdBy(
  platform: DefinitionPlatform,
  { id, by, reason }: { id: string; by: string; reason: string | null },
): Promise<void> {
  const isAsWanted = (change: Change | null) => {
    if (change === null || change.mergedAt !== null || change.closedAt !== null) return true;
    const { hold } = change;
    return hold === null ? reason === null : hold.by !== by || hold.reason === reason;
  };
  if (isAsWanted(await changeById(platform.store.db, id))) return;
  await platform.store.write(async (tx) => {
    const now = await changeById(tx.db, id);
    if (now === null || isAsWanted(now)) return;
    const mark = { projectId: now.projectId, agentId: now.agentId };
    await updateChange(tx, id, { hold: reason === null ? null : { reason, by, at: tx.now } });
    if (reason === null) tx.emit({ type: 'change.unblocked', ...mark, data: { changeId: id, by } });
    else tx.emit({ type: 'change.blocked', ...mark, data: { changeId: id, by, reason } });
  });
}
