import type { ChangeView } from '@pawl/protocol/changes/view';
import type { CheckView } from '@pawl/protocol/checks/view';
import type { QueueView } from '@pawl/protocol/queue/view';
import { idOf } from '@pawl/testing/agent-view';

export const shop = { id: idOf(900), name: 'shop' };

/** A change that waits in the queue, with whatever the test wants to be different. */
export function changeView(given: Partial<ChangeView> = {}): ChangeView {
  return {
    id: `change${'0'.repeat(15)}1`,
    projectId: shop.id,
    agentId: idOf(1),
    taskId: null,
    branch: 'work/brave-otter',
    head: 'a'.repeat(40),
    base: 'b'.repeat(40),
    title: 'the parser takes comments',
    summary: '',
    openedAt: 0,
    queuedAt: 0,
    retriedAt: null,
    isolatedAt: null,
    hold: null,
    findings: [],
    approvedHead: null,
    ejection: null,
    examinedHead: null,
    reviewedHead: null,
    reviewerId: null,
    reviews: 0,
    standInId: null,
    authorId: null,
    returns: 0,
    forgeRef: null,
    askedHead: null,
    passedHead: null,
    mergedAt: null,
    mergedCommit: null,
    closedAt: null,
    closeReason: null,
    state: 'queued',
    detail: '',
    needsPerson: false,
    author: { id: idOf(1), alias: 'brave-otter' },
    project: shop,
    checks: [],
    comments: 0,
    blocking: 0,
    ...given,
  };
}

/** A check of main and one change that has passed. */
export function checkView(given: Partial<CheckView> = {}): CheckView {
  return {
    id: `check${'0'.repeat(16)}1`,
    commit: 'c'.repeat(40),
    tree: 'd'.repeat(40),
    onto: 'b'.repeat(40),
    changes: [`change${'0'.repeat(15)}1`],
    plannedAt: 0,
    startedAt: 1_000,
    endedAt: 3_000,
    outcome: 'passed',
    detail: '',
    counts: { run: 12, failed: 0, skipped: 0 },
    exitCode: 0,
    steps: ['npm test'],
    ...given,
  };
}

/** An empty queue whose main is green. */
export function queueView(given: Partial<QueueView> = {}): QueueView {
  return {
    project: shop,
    branch: 'main',
    main: 'b'.repeat(40),
    green: 'b'.repeat(40),
    counts: { run: 12, failed: 0, skipped: 0 },
    emergency: null,
    pausedAt: null,
    waiting: null,
    advice: [],
    pushAllowedAt: null,
    trouble: null,
    changes: [],
    running: [],
    checks: [],
    rounds: 0,
    config: {
      enabled: true,
      checks: ['npm test'],
      method: 'squash',
      batch: 16,
      parallel: null,
      remote: null,
      auto: true,
      forge: 'local',
      review: null,
      guard: true,
      source: 'commit',
    },
    ...given,
  };
}
