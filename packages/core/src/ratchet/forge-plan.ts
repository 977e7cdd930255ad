import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ForgeChange } from '../port/forge.ts';
import { forgeLabels } from '../port/forge.ts';
import { needsPerson } from './change-state.ts';

/** What has to be remembered of a change on a forge, because it cannot be seen there. */
export type ForgeMemory = {
  /** The head that we pushed last. */
  pushed: string | null;
  /** When its head came there, by us, or was seen there. */
  movedAt: number | null;
  /** It was found there: somebody else opened it. */
  isFound: boolean;
  /** It was said, once, that it is no draft any more; who makes it one again means it. */
  isReady: boolean;
  /** The label for changes that wait for a person is ours. */
  isFlagged: boolean;
  /** The last of our comments that is there. */
  lastComment: string | null;
  /** It was closed there because it is closed here, or the other way round. */
  isClosed: boolean;
};

export const freshForgeMemory: ForgeMemory = {
  pushed: null,
  movedAt: null,
  isFound: false,
  isReady: false,
  isFlagged: false,
  lastComment: null,
  isClosed: false,
};

/** A change as it is here, with the comments that block it and that nobody has addressed, and as it is there. */
export type ForgeSight = { change: Change; blocking: number; there: ForgeChange; memory: ForgeMemory };

/**
 * Why a change that is open on a forge is held back here; null when nothing there is against it. Checks that still run hold
 * it, too: so nobody behind it in the queue waits for them.
 */
export function holdOnForge(
  { change, blocking, there, memory }: ForgeSight,
  { target, now }: { target: string; now: number },
): string | null {
  if (there.base !== target) return `it goes to ${there.base} there, not to ${target}`;
  if (there.head !== change.head)
    return `its head is ${there.head.slice(0, 10)} there, and ${change.head.slice(0, 10)} here`;
  if (there.review === 'changes_requested') {
    return there.objectors.length === 0 ? 'changes are requested' : `${there.objectors.join(', ')} asks for changes`;
  }
  const named = (state: string) => there.checks.checks.filter((check) => check.state === state).map(({ name }) => name);
  if (there.checks.state === 'failed') return `its checks fail there: ${named('failed').join(', ')}`;
  if (there.labels.includes(forgeLabels.needsPerson) && !memory.isFlagged && !needsPerson({ change, blocking })) {
    return `it is labelled ${forgeLabels.needsPerson}`;
  }
  if (there.draft && change.queuedAt !== null) return 'it is a draft there';
  if (there.checks.state === 'pending') return `its checks still run there: ${named('pending').join(', ')}`;
  if (there.review === 'required') return 'a review is required there';
  const isNew = memory.movedAt !== null && now - memory.movedAt < limits.forgeGraceMs;
  return there.checks.state === 'none' && isNew ? 'its checks have not begun there' : null;
}

export type ForgeMarks = { add: string[]; remove: string[]; ready: boolean };

/** What is to be marked on a forge. A label that a person has put there or taken away is left as it is. */
export function marksOnForge({ change, blocking, there, memory }: ForgeSight): {
  marks: ForgeMarks;
  memory: ForgeMemory;
} {
  const marks: ForgeMarks = { add: [], remove: [], ready: false };
  const next = { ...memory };
  const isWanted = needsPerson({ change, blocking });
  const isThere = there.labels.includes(forgeLabels.needsPerson);
  if (isWanted && !isThere && !memory.isFlagged) {
    marks.add.push(forgeLabels.needsPerson);
    next.isFlagged = true;
  }
  if (!isWanted && memory.isFlagged) {
    if (isThere) marks.remove.push(forgeLabels.needsPerson);
    next.isFlagged = false;
  }
  if (change.queuedAt !== null && there.draft && !memory.isReady && !memory.isFound) {
    marks.ready = true;
    next.isReady = true;
  }
  return { marks, memory: next };
}
