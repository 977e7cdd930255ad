import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ForgeChange, ForgeChecks } from '../port/forge.ts';
import { forgeLabels } from '../port/forge.ts';
import { needsPerson } from '../changes/change-state.ts';

/** State about a change on a forge that cannot be read back from there. */
export type ForgeMemory = {
  /** The head we pushed last. */
  pushed: string | null;
  /** When its head was pushed or first seen there. */
  movedAt: number | null;
  /** Opened on the forge, not by Pawl. */
  isFound: boolean;
  /** We marked it as ready once; if it is a draft again, that is deliberate. */
  isReady: boolean;
  /** We set the label for changes that wait for a person. */
  isFlagged: boolean;
  /** The last of our comments posted there. */
  lastComment: string | null;
  /** Its closing was synchronised, in either direction. */
  isClosed: boolean;
  /** Why and when the forge refused to merge this head onto this main. */
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

/** A change as it is here, with its number of unaddressed blocking comments, and as it is on the forge. */
export type ForgeFacts = { change: Change; blocking: number; there: ForgeChange; memory: ForgeMemory };

/** The target branch on the forge, whether we may merge there, and the time. */
export type ForgeRules = { target: { branch: string; tip: string }; mayMerge: boolean; now: number };

/**
 * Why a change that is open on a forge is held back here; null if nothing is. Running checks hold it, too, so that the
 * changes behind it do not wait for them.
 */
export function holdOnForge(facts: ForgeFacts, rules: ForgeRules): string | null {
  return obstacleOnForge(facts, rules) ?? refusalOnForge(facts, rules);
}

/** Visible reasons on the forge against merging a change. */
export function obstacleOnForge(
  { change, blocking, there, memory }: ForgeFacts,
  { target: { branch: target }, now }: ForgeRules,
): string | null {
  if (there.base !== target) return `it goes to ${there.base} there, not to ${target}`;
  if (there.head !== change.head)
    return `its head is ${there.head.slice(0, 10)} there, and ${change.head.slice(0, 10)} here`;
  if (there.review === 'changes_requested') {
    return there.objectors.length === 0 ? 'changes are requested' : `${there.objectors.join(', ')} requested changes`;
  }
  const named = (state: string) => there.checks.checks.filter((check) => check.state === state).map(({ name }) => name);
  if (there.checks.state === 'failed') return `its checks fail there: ${named('failed').join(', ')}`;
  if (there.labels.includes(forgeLabels.needsPerson) && !memory.isFlagged && !needsPerson({ change, blocking })) {
    return `it is labelled ${forgeLabels.needsPerson}`;
  }
  if (there.draft && change.queuedAt !== null) return 'it is a draft there';
  if (there.checks.state === 'pending') return `its checks are still running there: ${named('pending').join(', ')}`;
  if (there.review === 'required') return 'a review is required there';
  const isNew = memory.movedAt !== null && Math.abs(now - memory.movedAt) < limits.forgeGraceMs;
  return there.checks.state === 'none' && isNew ? 'its checks have not started there' : null;
}

/**
 * Why the forge refused a merge, while that counts. Retried after a while, in case its rules changed, and when main
 * moves; never if only others may merge.
 */
function refusalOnForge({ there, memory }: ForgeFacts, { target, mayMerge, now }: ForgeRules): string | null {
  const { refused } = memory;
  if (refused === null || refused.head !== there.head || refused.onto !== target.tip) return null;
  return mayMerge && Math.abs(now - refused.at) >= limits.forgeRetryMs ? null : refused.reason;
}

/** The latest CI result for the target branch on the forge, its commit, and since when. */
export type MainOnForge = {
  tip: string;
  since: number;
  checks: { commit: string; state: ForgeChecks['state'] } | null;
};

/** Whether the forge's CI finds the current target branch red. */
export function isRedOnForge({ tip, checks }: MainOnForge): boolean {
  return checks?.commit === tip && checks.state === 'failed';
}

/**
 * Whether an alarm must stay on regardless of our own checks: main is red on the forge, or was, and its CI has not
 * reported since. A commit without any report for a while is not checked there.
 */
export function keepsAlarm(main: MainOnForge | null, { isTheirs, now }: { isTheirs: boolean; now: number }): boolean {
  if (main === null) return isTheirs;
  if (isRedOnForge(main)) return true;
  if (!isTheirs) return false;
  if (main.checks?.commit === main.tip) return main.checks.state === 'pending';
  return Math.abs(now - main.since) < limits.forgeGraceMs;
}

export type ForgeMarks = { add: string[]; remove: string[]; ready: boolean };

/** The labels to change on a forge. Labels that a person added or removed stay as they are. */
export function marksOnForge({ change, blocking, there, memory }: ForgeFacts): {
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
