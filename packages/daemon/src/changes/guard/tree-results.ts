import type { TreeResults } from '@pawl/core/queue/queue-plan';
import type { Change, Check } from '@pawl/schema/change';

const nothing: TreeResults = {
  isGreen: false,
  greenAt: null,
  reds: 0,
  redSince: null,
  isRunning: false,
  counts: null,
};

/** Drops failures from before a change was retried. */
export function sinceRetries(checks: readonly Check[], changes: readonly Change[]): Check[] {
  const retried = new Map(changes.flatMap(({ id, retriedAt }) => (retriedAt === null ? [] : [[id, retriedAt]])));
  if (retried.size === 0) return [...checks];
  return checks.filter(
    (check) => check.outcome !== 'failed' || !check.changes.some((id) => (retried.get(id) ?? 0) > check.plannedAt),
  );
}

/**
 * Drops failures from before main failed and then passed with the same files: their cause was in the environment, not
 * in a change.
 */
export function sinceRecovery(checks: readonly Check[], main: string): Check[] {
  const own = checks.filter(({ tree, outcome }) => tree === main && (outcome === 'passed' || outcome === 'failed'));
  const recovery = own.findLast(({ outcome }, at) => outcome === 'passed' && own[at - 1]?.outcome === 'failed');
  const since = recovery?.endedAt ?? 0;
  return checks.filter(({ tree, outcome, plannedAt }) => tree === main || outcome !== 'failed' || plannedAt >= since);
}

/**
 * Reads from check results which trees are green. A tree that has passed is green, whatever failed before, unless it
 * has failed twice in a row since: then something outside has changed. After a request for new checks, only later ones
 * count.
 */
export function resultsByTree(
  checks: readonly Check[],
  asked: { tree: string; at: number } | null = null,
): (tree: string) => TreeResults {
  const byTree = new Map<string, Check[]>();
  for (const check of checks) {
    if (check.outcome === 'cancelled') continue;
    if (asked !== null && check.tree === asked.tree && check.plannedAt < asked.at) continue;
    byTree.set(check.tree, [...(byTree.get(check.tree) ?? []), check]);
  }
  const known = new Map([...byTree].map(([tree, all]) => [tree, judge(all)]));
  return (tree) => known.get(tree) ?? nothing;
}

function judge(checks: readonly Check[]): TreeResults {
  const ended = checks.filter(({ outcome }) => outcome !== null);
  const passed = ended.findLastIndex(({ outcome }) => outcome === 'passed');
  const reds = ended.length - 1 - passed;
  return {
    isGreen: passed >= 0 && reds < 2,
    greenAt: ended[passed]?.endedAt ?? null,
    reds,
    redSince: ended[passed + 1]?.plannedAt ?? null,
    isRunning: checks.some(({ outcome }) => outcome === null),
    counts: ended[passed]?.counts ?? null,
  };
}
