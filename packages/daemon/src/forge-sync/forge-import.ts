import { newChange } from '@pawl/core/changes/change-life';
import type { ForgeChange } from '@pawl/core/port/forge';
import { isEjected } from '@pawl/core/changes/change-state';
import { summaryFrom, titleFrom } from '@pawl/core/changes/change-text';
import { checkBranchName } from '@pawl/git/repository/branch-name';
import { mergeBase } from '@pawl/git/repository/change-diff';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { fetchBranch } from '@pawl/git/repository/remote';
import type { Change } from '@pawl/schema/change';
import { messageOf, PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { countOpenChanges } from '@pawl/store/changes/change-search';
import { changeById, insertChange, openChangeOf, updateChange } from '@pawl/store/changes/changes';
import { beginQueue } from '@pawl/store/changes/queues';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { redact } from '../accounts/redaction.ts';
import type { ForgeContext } from './forge-context.ts';
import { rememberOnForge } from './forge-memory.ts';
import { noteOpened } from '../changes/notices.ts';

/**
 * Imports a change that was opened on the forge and marked as ours; null if it is not ours. Its branch must be in the
 * repository itself: anyone who can push it there may also have it checked here, which runs its code.
 */
export async function importChange(context: ForgeContext, there: ForgeChange): Promise<Change | null> {
  const { platform, project, target } = context;
  if (there.fork !== null || there.base !== target.branch || there.branch === target.branch) return null;
  if (!(await bringHead(context, there))) return null;
  const base = (await mergeBase(context.repository, context.ownDir, target.tip, there.head)) ?? target.tip;
  return platform.store.write(async (tx) => {
    await beginQueue(tx, project.id, target.branch);
    if ((await openChangeOf(tx.db, project.id, there.branch)) !== null) return null;
    if ((await countOpenChanges(tx.db, project.id)) >= limits.openChanges) return null;
    const change = await insert(tx, context, there, base);
    await noteOpened(tx, { platform, project, change });
    return change;
  });
}

/** Fetches the head of a change. False if the branch is gone or elsewhere, or main contains it. */
async function bringHead(
  { platform, repository, ownDir, link, target }: ForgeContext,
  there: ForgeChange,
): Promise<boolean> {
  try {
    checkBranchName(there.branch);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    platform.log.info({ ref: there.ref, why: messageOf(error) }, 'a change on the forge was not imported');
    return false;
  }
  const tip = await fetchBranch(repository, { ownDir, url: link.url, branch: there.branch });
  return tip === there.head && !(await isAncestor(repository, ownDir, tip, target.tip));
}

async function insert(tx: WriteTransaction, context: ForgeContext, there: ForgeChange, base: string): Promise<Change> {
  const { platform, project, link } = context;
  const change = newChange({
    id: newId(),
    projectId: project.id,
    agentId: null,
    taskId: null,
    branch: there.branch,
    head: there.head,
    base,
    title: titleFrom([redact(platform, there.title)]),
    summary: summaryFrom(redact(platform, there.body)),
    openedAt: tx.now,
    queuedAt: there.draft ? null : tx.now,
    forgeRef: there.ref,
  });
  await insertChange(tx, change);
  await rememberOnForge(tx, change.id, { isFound: true, movedAt: tx.now });
  const { id: changeId, head, branch, title } = change;
  tx.emit({ type: 'change.opened', projectId: project.id, data: { changeId, branch, head, title } });
  if (change.queuedAt !== null) {
    tx.emit({ type: 'change.queued', projectId: project.id, data: { changeId, head, by: link.forge.name } });
  }
  return change;
}

/**
 * Updates an imported change from the forge: its head, and whether it is still a draft. Reviews and checks of the old
 * head lapse. Returns whether it has changed.
 */
export async function followThere(context: ForgeContext, change: Change, there: ForgeChange): Promise<boolean> {
  const isMoved = there.head !== change.head;
  const isWanted = change.queuedAt === null && !there.draft;
  if (!isMoved && !isWanted) return false;
  if (isMoved && !(await bringHead(context, there))) return false;
  const by = context.link.forge.name;
  return context.platform.store.write(async (tx) => {
    const now = await changeById(tx.db, change.id);
    if (now?.head !== change.head || now.mergedAt !== null || now.closedAt !== null) return false;
    const mark = { projectId: now.projectId, agentId: now.agentId };
    const isAgain = isMoved && now.queuedAt !== null && isEjected(now);
    const queuedAt = isWanted || isAgain ? tx.now : now.queuedAt;
    const anew = isMoved ? { head: there.head, findings: [], reviews: 0 } : {};
    await updateChange(tx, now.id, { ...anew, queuedAt });
    if (isMoved) await rememberOnForge(tx, now.id, { movedAt: tx.now });
    const data = { changeId: now.id, head: there.head };
    if (isMoved) tx.emit({ type: 'change.moved', ...mark, data: { ...data, from: now.head } });
    if (queuedAt !== now.queuedAt) tx.emit({ type: 'change.queued', ...mark, data: { ...data, by } });
    return true;
  });
}
