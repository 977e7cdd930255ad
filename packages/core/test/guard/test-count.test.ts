import { compareCounts } from '@pawl/core/guard/test-count';
import { expect, test } from 'vitest';

const count = (run: number, skipped = 0) => ({ run, failed: 0, skipped });

test.each([
  ['the same', count(10, 1), count(10, 1), []],
  ['more tests', count(10), count(12), []],
  ['fewer skips', count(10, 2), count(12, 0), []],
  ['half of the tests', count(10), count(5), ['fewer-tests']],
  ['no test', count(10), count(0), ['fewer-tests']],
  ['a test that is skipped', count(10), count(9, 1), ['fewer-tests', 'more-skips']],
  ['a new test that is skipped', count(10), count(10, 1), ['more-skips']],
  ['nothing that can be read', count(10), null, ['tests-unreadable']],
  ['the first count', null, count(1), []],
  ['nothing, as before', null, null, []],
] as const)('%s', (_, before, after, kinds) => {
  expect(compareCounts(before, after).map(({ kind }) => kind)).toEqual(kinds);
});

test('a finding has both numbers', () => {
  expect(compareCounts(count(10), count(4, 1)).map(({ detail }) => detail)).toEqual([
    'fewer tests run: 10 before, 4 now',
    'more tests are skipped: 0 before, 1 now',
  ]);
});
