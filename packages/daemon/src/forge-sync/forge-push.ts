import type { ForgeChange } from '@pawl/core/port/forge';
import type { ForgeMemory } from '@pawl/core/queue/forge-plan';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { hasCommit } from '@pawl/git/merge/queue-objects';
import { fetchBranch, pushCommit } from '@pawl/git/repository/remote';
import type { Change } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { updateChange } from '@pawl/store/changes/changes';
import type { ForgeContext } from './forge-context.ts';
import { rememberOnForge } from './forge-memory.ts';

/**
 * Pushes a change's head to its branch on the forge. Only fast-forwards, or replaces our own push: commits of others
 * are never overwritten. Returns whether the branch is at the head.
 */
async function pushHead(
  { repository, ownDir, link }: ForgeContext,
  { branch, head }: Change,
  memory: ForgeMemory,
  tip: string | null,
): Promise<boolean> {
  if (link.push === null) return false;
  if (tip === head) return true;
  const isKnown = tip !== null && (await hasCommit(repository, ownDir, tip));
  const isForward = tip === null || (isKnown && (await isAncestor(repository, ownDir, tip, head)));
  if (!isForward && tip !== memory.pushed) return false;
  const request = { ownDir, url: link.push.url, branch, from: tip, to: head, mayReplace: !isForward };
  return (await pushCommit(repository, request)) === 'moved';
}

/**
 * Opens a change on the forge. Records its reference last: after a crash, the next attempt finds the branch pushed and
 * the change open. Null if the branch cannot be pushed.
 */
export async function openOnForge(
  context: ForgeContext,
  change: Change,
  memory: ForgeMemory,
): Promise<ForgeChange | null> {
  const { platform, repository, ownDir, link, target } = context;
  if (link.push === null) return null;
  const { url, fork } = link.push;
  const tip = await fetchBranch(repository, { ownDir, url, branch: change.branch });
  if (!(await pushHead(context, change, memory, tip))) {
    throw new PawlError('conflict', `the branch ${change.branch} has other commits there`, {
      hint: 'Merge them and propose the branch again, or delete it there.',
    });
  }
  const isDraft = change.queuedAt === null;
  const { branch, title } = change;
  const opened = await link.forge.open({
    branch,
    fork,
    base: target.branch,
    title,
    body: bodyOf(change),
    draft: isDraft,
  });
  await platform.store.write(async (tx) => {
    await updateChange(tx, change.id, { forgeRef: opened.ref });
    await rememberOnForge(tx, change.id, { pushed: change.head, movedAt: tx.now, isReady: !opened.draft });
  });
  return opened;
}

/** Pushes a head that has moved here. Returns the head on the forge. */
export async function followHere(
  context: ForgeContext,
  { change, there, memory }: { change: Change; there: ForgeChange; memory: ForgeMemory },
): Promise<string> {
  if (there.head === change.head || memory.isFound || !(await pushHead(context, change, memory, there.head))) {
    return there.head;
  }
  await context.platform.store.write((tx) => rememberOnForge(tx, change.id, { pushed: change.head, movedAt: tx.now }));
  return change.head;
}

function bodyOf({ id, summary }: Change): string {
  return `${summary}\n\n---\nChange \`${id}\` of the merge queue.\n`.trimStart();
}
