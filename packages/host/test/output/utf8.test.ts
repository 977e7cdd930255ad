import { expect, test } from 'vitest';
import { completeUtf8Length } from '../../src/output/utf8.ts';

test.each([
  ['', 0],
  ['61', 1],
  ['61c3', 1],
  ['61c3a9', 3],
  ['e2', 0],
  ['e282', 0],
  ['e282ac', 3],
  ['f0', 0],
  ['f09f98', 0],
  ['f09f9880', 4],
  ['61f09f', 1],
  ['808080', 3],
  ['80808080', 4],
  ['ff', 1],
  ['f8', 1],
  ['c361', 2],
])('%s has %d complete bytes', (hex, length) => {
  expect(completeUtf8Length(Buffer.from(hex, 'hex'))).toBe(length);
});
