import { sampleOf } from '@pawl/testing/endurance';
import { expect, test } from 'vitest';

const members = Array.from({ length: 20 }, (_, index) => index);

test('a sample has the size asked for, no member twice, and the order of the list', () => {
  const isWhole = process.env['PAWL_TEST_LONG'] === '1';
  const sample = sampleOf(members, 5);
  expect(sample).toHaveLength(isWhole ? 20 : 5);
  expect(sample).toEqual([...new Set(sample)].toSorted((one, other) => one - other));
  expect(members).toEqual(expect.arrayContaining(sample));
});

test('the same seed draws the same sample', () => {
  expect(sampleOf(members, 5)).toEqual(sampleOf(members, 5));
});

test('a list that is shorter than the sample is taken whole', () => {
  expect(sampleOf([1, 2], 5)).toEqual([1, 2]);
});
