import { expect, test } from 'vitest';
import { ago, bytes, clockTime, count, duration, names, tokens } from '../src/amount.ts';

test.each([
  [-5, '0ms'],
  [0, '0ms'],
  [820.4, '820ms'],
  [999, '999ms'],
  [999.7, '1.0s'],
  [1_000, '1.0s'],
  [4_249, '4.2s'],
  [59_949, '59.9s'],
  [59_999, '1m00s'],
  [60_000, '1m00s'],
  [192_000, '3m12s'],
  [3_599_999, '59m59s'],
  [3_600_000, '1h00m'],
  [18_180_000, '5h03m'],
  [360_000_000, '100h00m'],
])('%d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1.0k'],
  [12_345, '12.3k'],
  [999_949, '999.9k'],
  [999_999, '1.0M'],
  [4_500_000, '4.5M'],
])('%d tokens are %s', (count, text) => {
  expect(tokens(count)).toBe(text);
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KB'],
  [1024 * 1024 - 1, '1.0 MB'],
  [12 * 1024 * 1024, '12.0 MB'],
])('%d bytes are %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});

test('a time of day is in local time', () => {
  expect(clockTime(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe('03:04:05');
});

test.each([
  [-1, 'just now'],
  [999, 'just now'],
  [1_000, '1.0s ago'],
  [192_000, '3m12s ago'],
])('%d ms before now is %s', (ms, text) => {
  expect(ago(ms)).toBe(text);
});

test('things are counted, and names beyond a dozen only counted', () => {
  expect([0, 1, 2].map((number) => count(number, 'agent'))).toEqual(['0 agents', '1 agent', '2 agents']);
  const letters = 'abcdefghijklmn'.split('');
  expect(names(letters.slice(0, 12))).toBe('a, b, c, d, e, f, g, h, i, j, k, l');
  expect(names(letters)).toBe('a, b, c, d, e, f, g, h, i, j, k, l and 2 more');
  expect(names([])).toBe('');
});
