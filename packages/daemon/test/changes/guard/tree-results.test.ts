import { resultsByTree, sinceRecovery, sinceRetries } from '@pawl/daemon/changes/guard/tree-results';
import type { Change, Check } from '@pawl/schema/change';
import { expect, test } from 'vitest';

const check = (outcome: Check['outcome'], plannedAt = 1, run: number | null = null): Check =>
  ({
    tree: 'tree',
    plannedAt,
    outcome,
    counts: run === null ? null : { run, failed: 0, skipped: 0 },
  }) as Check;

test.each([
  ['nothing', [], { isGreen: false, reds: 0, isRunning: false }],
  ['one that runs', [check(null)], { isGreen: false, reds: 0, isRunning: true }],
  ['one failure', [check('failed')], { isGreen: false, reds: 1 }],
  ['two failures', [check('failed'), check('failed')], { isGreen: false, reds: 2 }],
  ['a failure and then a success', [check('failed'), check('passed')], { isGreen: true, reds: 0 }],
  ['a success and then a failure', [check('passed'), check('failed')], { isGreen: true, reds: 1 }],
  ['a success and then two failures', [check('passed'), check('failed'), check('failed')], { isGreen: false, reds: 2 }],
  ['a cancelled one', [check('cancelled')], { isGreen: false, reds: 0, isRunning: false }],
])('%s', (_, checks, expected) => {
  expect(resultsByTree(checks)('tree')).toMatchObject(expected);
  expect(resultsByTree(checks)('another')).toMatchObject({ isGreen: false, reds: 0, isRunning: false, counts: null });
});

test('the counts are those of the last success', () => {
  const checks = [check('passed', 1, 3), check('passed', 2, 4), check('failed', 3)];
  expect(resultsByTree(checks)('tree').counts?.run).toBe(4);
});

test('after a request for a new check, only later checks of a tree count', () => {
  const checks = [check('passed', 1), check('failed', 5), check('failed', 6)];
  expect(resultsByTree(checks, { tree: 'tree', at: 5 })('tree')).toMatchObject({ isGreen: false, reds: 2 });
  expect(resultsByTree(checks, { tree: 'tree', at: 7 })('tree')).toMatchObject({ isGreen: false, reds: 0 });
  expect(resultsByTree(checks, { tree: 'another', at: 7 })('tree')).toMatchObject({ isGreen: false, reds: 2 });
});

test('failures before main failed and passed again do not count', () => {
  const main = (outcome: Check['outcome'], at: number) => ({ ...check(outcome, at), tree: 'main', endedAt: at });
  const failed = [check('failed', 2), check('failed', 3)];
  const outage = [main('passed', 1), ...failed, main('failed', 4), main('failed', 5)];
  expect(sinceRecovery(outage, 'main')).toEqual(outage);
  const over = [...outage, main('passed', 6)];
  expect(resultsByTree(sinceRecovery(over, 'main'))('tree')).toMatchObject({ reds: 0 });
  expect(resultsByTree(sinceRecovery([...over, check('failed', 7)], 'main'))('tree')).toMatchObject({ reds: 1 });
  expect(sinceRecovery([main('passed', 1), ...failed], 'main')).toHaveLength(3);
});

test('failures before a change was retried do not count', () => {
  const with_ = (at: number) => ({ ...check('failed', at), changes: ['a', 'b'] });
  const retried = [{ id: 'a', retriedAt: 3 } as Change];
  expect(sinceRetries([with_(1), with_(2), with_(3)], retried)).toHaveLength(1);
  expect(sinceRetries([with_(1)], [{ id: 'c', retriedAt: 3 } as Change])).toHaveLength(1);
});
