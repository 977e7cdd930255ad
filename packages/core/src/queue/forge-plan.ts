import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ForgeChange, ForgeChecks } from '../port/forge.ts';
import { forgeLabels } from '../port/forge.ts';
import { needsPerson } from '../changes/change-state.ts';

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
  /** Why the forge did not merge this head onto this main, and when it said so. */
  refused: { head: string; onto: string; reason: string; at: number } | null;
};

export const freshForgeMemory: ForgeMemory = {
  pushed: null,
  movedAt: null,
  isFound: false,
  isReady: false,
  isFlagged: false,
  lastComment: null,
  isClosed: false,
  refused: null,
};

/** A change as it is here, with the comments that block it and that nobody has addressed, and as it is there. */
export type ForgeSight = { change: Change; blocking: number; there: ForgeChange; memory: ForgeMemory };

/** The branch that changes go to on a forge and where it is, whether we may merge there, and the time. */
export type ForgeScene = { target: { branch: string; tip: string }; mayMerge: boolean; now: number };

/**
 * Why a change that is open on a forge is held back here; null when nothing there is against it. Checks that still run hold
 * it, too: so nobody behind it in the queue waits for them.
 */
export function holdOnForge(sight: ForgeSight, scene: ForgeScene): string | null {
  return obstacleOnForge(sight, scene) ?? refusalOnForge(sight, scene);
}

/** What can be seen there that is against a change. */
export function obstacleOnForge(
  { change, blocking, there, memory }: ForgeSight,
  { target: { branch: target }, now }: ForgeScene,
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
  const isNew = memory.movedAt !== null && Math.abs(now - memory.movedAt) < limits.forgeGraceMs;
  return there.checks.state === 'none' && isNew ? 'its checks have not begun there' : null;
}

/**
 * Why the forge did not merge a change, as long as that counts: it is tried again after a while, in case that their rules were
 * changed, and on another main. What only others may merge is not tried again.
 */
function refusalOnForge({ there, memory }: ForgeSight, { target, mayMerge, now }: ForgeScene): string | null {
  const { refused } = memory;
  if (refused === null || refused.head !== there.head || refused.onto !== target.tip) return null;
  return mayMerge && Math.abs(now - refused.at) >= limits.forgeRetryMs ? null : refused.reason;
}

/** What the CI of a forge said last of the target branch, where that was, and since when it was there. */
export type MainOnForge = {
  tip: string;
  since: number;
  checks: { commit: string; state: ForgeChecks['state'] } | null;
};

/** Whether the forge's CI has found the target branch red as it is now. */
export function isRedOnForge({ tip, checks }: MainOnForge): boolean {
  return checks?.commit === tip && checks.state === 'failed';
}

/**
 * Whether an alarm may not end yet, whatever our own checks say: main is red there, or it was so and its CI has not said yet
 * that it is no more. A commit that it says nothing of for a while is none that it looks at.
 */
export function keepsAlarm(main: MainOnForge | null, { isTheirs, now }: { isTheirs: boolean; now: number }): boolean {
  if (main === null) return isTheirs;
  if (isRedOnForge(main)) return true;
  if (!isTheirs) return false;
  if (main.checks?.commit === main.tip) return main.checks.state === 'pending';
  return Math.abs(now - main.since) < limits.forgeGraceMs;
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
