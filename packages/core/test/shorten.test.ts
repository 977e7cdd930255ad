import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstLine } from '../src/shorten.ts';

test.each([
  ['', 10, ''],
  [' \n ', 10, ''],
  ['one', 10, 'one'],
  ['\n\n  one  \ntwo', 10, 'one'],
  ['one\r\ntwo', 10, 'one'],
  ['1234567890', 10, '1234567890'],
  ['12345678901', 10, '123456789…'],
  ['12345678😀90', 10, '12345678…'],
])('the first line of %j in %i characters', (text, characters, expected) => {
  expect(firstLine(text, characters)).toBe(expected);
});

test('it is one line, short enough, and well formed when the text was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, characters) => {
      const line = firstLine(text, characters);
      expect(line.length).toBeLessThanOrEqual(characters);
      expect(line).not.toContain('\n');
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});
