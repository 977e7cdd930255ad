import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../src/line-splitter.ts';

const lineBytes = 8;

function split(chunks: Buffer[]): unknown[] {
  const splitter = new LineSplitter(lineBytes);
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()];
}

test('wherever the bytes are cut, the lines are the same', () => {
  const bytes = fc.array(fc.constantFrom(10, 97, 98, 0xc3, 0xa9, 0), { maxLength: 60 });
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60), { maxLength: 5 }), (content, cuts) => {
      const whole = Buffer.from(content);
      const edges = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const parts = edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge));
      expect(split(parts)).toEqual(split([whole]));
    }),
  );
});

test('a line at the limit is read, a longer one is reported by its length, and white space is ignored', () => {
  expect(split([Buffer.from('12345678\n123456789\n \n\nab')])).toEqual([
    { text: '12345678' },
    { oversizedBytes: 9 },
    { text: 'ab' },
  ]);
});
