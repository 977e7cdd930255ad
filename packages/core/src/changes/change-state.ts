import type { Change, ChangeState, Queue } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { MergeRules } from './merge-leave.ts';
import { mergeLeave, readyDetail } from './merge-leave.ts';

/** The facts that a change's state derives from. */
export type ChangeFacts = {
  change: Change;
  /** Unaddressed blocking comments. */
  blocking: number;
  /** The project's rules: whether it has a queue, checks and reviews. */
  rules: MergeRules & { enabled: boolean; hasChecks: boolean; review: boolean };
  /** The project's queue; null before it has started. */
  queue: Pick<Queue, 'emergency' | 'pausedAt' | 'waiting'> | null;
  /** A tree with this change is being checked, or has passed and is not merged yet. */
  progress: 'testing' | 'green' | null;
};

export type StateOfChange = { state: ChangeState; detail: string };

/** Derives the state of a change, and why. */
export function changeState(facts: ChangeFacts): StateOfChange {
  const { change, progress, queue } = facts;
  if (change.mergedAt !== null) return { state: 'merged', detail: `as ${(change.mergedCommit ?? '').slice(0, 10)}` };
  if (change.closedAt !== null) return { state: 'closed', detail: change.closeReason ?? '' };
  const held = holdOf(facts);
  if (held !== null) return held;
  const { emergency = null, pausedAt = null, waiting = null } = queue ?? {};
  if (progress === 'green') {
    return { state: 'green', detail: waiting === null ? 'merges next' : `waits: ${waiting.reason}` };
  }
  if (progress === 'testing') return { state: 'testing', detail: 'checks are running' };
  const leave = mergeLeave(change, facts.rules);
  if (leave !== 'granted' && change.passedHead === change.head) {
    return { state: 'ready', detail: readyDetail(change, leave, facts.rules) };
  }
  if (emergency !== null && !repairs(change, emergency.fixerId)) {
    return { state: 'queued', detail: `waits: main is red at ${emergency.commit.slice(0, 10)}` };
  }
  if (pausedAt !== null) return { state: 'queued', detail: 'waits: the queue is paused' };
  return { state: 'queued', detail: change.isolatedAt === null ? '' : 'being checked alone' };
}

/** Whether the queue may check a change now; `mergeLeave` decides whether it may then merge it. */
export function isEligible(facts: ChangeFacts): boolean {
  const { change, queue } = facts;
  if (change.mergedAt !== null || change.closedAt !== null || holdOf(facts) !== null) return false;
  if (queue?.emergency && !repairs(change, queue.emergency.fixerId)) return false;
  return change.examinedHead === change.head;
}

/** Whether a change repairs a red main: the assigned fixer made it. */
function repairs(change: Change, fixerId: string | null): boolean {
  return fixerId !== null && (change.agentId === fixerId || change.standInId === fixerId);
}

/** Whether a change cannot continue without a person. */
export function needsPerson({ change, blocking = 0 }: { change: Change; blocking?: number }): boolean {
  if (change.findings.length > 0 && change.approvedHead !== change.head) return true;
  return isGivenUp(change) && (isEjected(change) || blocking > 0);
}

/** It was returned as often as allowed, or no agent can continue it. */
function isGivenUp({ returns }: Change): boolean {
  return returns >= limits.changeReturns;
}

/** Ejected by the queue, with no new head since. */
export function isEjected({ ejection, head }: Change): boolean {
  return ejection !== null && ejection.head === head;
}

/** The reason that holds a change back, or null. Reasons for a person come before those its author can settle. */
function holdOf({ change, blocking, rules }: ChangeFacts): StateOfChange | null {
  const { findings, hold, ejection, queuedAt } = change;
  if (findings.length > 0 && change.approvedHead !== change.head) {
    return { state: 'needs-human-input', detail: findings.map(({ detail }) => detail).join('; ') };
  }
  if (isEjected(change)) {
    const reason = ejection?.reason ?? '';
    if (!isGivenUp(change)) return { state: 'ejected', detail: reason };
    return { state: 'needs-human-input', detail: `no agent continues it: ${reason}` };
  }
  if (hold !== null) return { state: 'blocked', detail: `${hold.by}: ${hold.reason}` };
  if (blocking > 0) {
    const comments = blocking === 1 ? 'one comment blocks it' : `${blocking} comments block it`;
    if (isGivenUp(change)) return { state: 'needs-human-input', detail: `no agent continues it: ${comments}` };
    return { state: 'blocked', detail: comments };
  }
  if (!rules.enabled) return { state: 'open', detail: 'the queue of this project is disabled' };
  if (queuedAt === null) return { state: 'open', detail: 'it is a draft' };
  if (!rules.hasChecks) {
    return { state: 'blocked', detail: 'there are no checks: name them in .pawl/config.yaml (pawl init finds them)' };
  }
  if (rules.review && change.reviewedHead !== change.head) {
    if (change.reviews < limits.reviewAttempts) return { state: 'open', detail: 'its review is not finished' };
    return { state: 'needs-human-input', detail: 'its review ended without a result' };
  }
  return null;
}
