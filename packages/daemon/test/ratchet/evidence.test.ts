import { evidenceOf } from '@pawl/daemon/ratchet/evidence';
import type { Check } from '@pawl/schema/change';
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
  expect(evidenceOf(checks)('tree')).toMatchObject(expected);
  expect(evidenceOf(checks)('another')).toEqual({ isGreen: false, reds: 0, isRunning: false, counts: null });
});

test('the counts are those of the last success', () => {
  const checks = [check('passed', 1, 3), check('passed', 2, 4), check('failed', 3)];
  expect(evidenceOf(checks)('tree').counts?.run).toBe(4);
});

test('of a tree that is to be checked anew only later checks count', () => {
  const checks = [check('passed', 1), check('failed', 5), check('failed', 6)];
  expect(evidenceOf(checks, { tree: 'tree', at: 5 })('tree')).toMatchObject({ isGreen: false, reds: 2 });
  expect(evidenceOf(checks, { tree: 'tree', at: 7 })('tree')).toMatchObject({ isGreen: false, reds: 0 });
  expect(evidenceOf(checks, { tree: 'another', at: 7 })('tree')).toMatchObject({ isGreen: false, reds: 2 });
});
