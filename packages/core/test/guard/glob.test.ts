import { matchesGlob } from '@pawl/core/guard/glob';
import { expect, test } from 'vitest';

test.each([
  ['ci/**', 'ci/a.sh', true],
  ['ci/**', 'ci/deep/er/a.sh', true],
  ['ci/', 'ci/deep/a.sh', true],
  ['./ci/*', 'ci/a.sh', true],
  ['ci/*', 'ci/deep/a.sh', false],
  ['ci/*', 'cix/a.sh', false],
  ['**/a.sh', 'a.sh', true],
  ['**/a.sh', 'x/y/a.sh', true],
  ['**/ci/**/*.sh', 'x/ci/y/z/a.sh', true],
  ['**/ci/**/*.sh', 'x/ci/y/z/a.py', false],
  ['*.config.?s', 'vite.config.ts', true],
  ['*.config.?s', 'vite.config.mts', false],
  ['a', 'a', true],
  ['a', 'b', false],
  ['[ab].txt', 'a.txt', false],
  ['', 'a', false],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(matchesGlob(pattern, path)).toBe(expected);
});

test('no pattern is slow', () => {
  const began = process.cpuUsage();
  expect(matchesGlob('*a'.repeat(150), 'a'.repeat(4_000) + 'b')).toBe(false);
  expect(matchesGlob('**/a/'.repeat(60), 'a/'.repeat(2_000) + 'b')).toBe(true);
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000);
});
