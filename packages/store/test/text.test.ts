import * as fc from 'fast-check';
import { decodeText, encodeText } from '@pawl/store/text';
import { expect, test } from 'vitest';

test('any string round-trips, and stored text has no NUL and no lone surrogate', () => {
  const anyUnits = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));
  const nasty = fc
    .array(fc.constantFrom('\0', '\u0010', '0', 'd800', '\ud83d', '\ude00', 'é', '\u00100041'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(anyUnits, nasty), (text) => {
      const encoded = encodeText(text);
      expect(decodeText(encoded)).toBe(text);
      expect(encoded.isWellFormed() && !encoded.includes('\0')).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('ordinary text is stored unchanged', () => {
  for (const text of ['', 'plain', 'ümläut 😀', 'tab\tand\r\nlines', '\u001b[31mred'])
    expect(encodeText(text)).toBe(text);
});
