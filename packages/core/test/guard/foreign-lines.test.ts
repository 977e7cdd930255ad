import { processorMs } from '@pawl/testing/processor-time';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastLines, plainLine, plainText, quoted } from '../../src/guard/foreign-lines.ts';

const most = { lines: 3, bytes: 40 };

test('colours, titles and overwritten text are removed, and words stay', () => {
  expect(plainText('\u001B[31mred\u001B[0m \u001B]0;title\u0007done\r\n')).toBe('red done\n');
  expect(plainText('10 %\r 50 %\r100 %\nok')).toBe('100 %\nok');
  expect(plainText('a\u0000b\u202Ec')).toBe('a\uFFFDb\uFFFDc');
  expect(plainLine('one\ntwo\t three', 9)).toBe('one two …');
});

test('the last lines are kept, as far as they fit', () => {
  expect(lastLines('one\ntwo\nthree\nfour\n\n', most)).toBe('two\nthree\nfour');
  expect(lastLines(`${'x'.repeat(30)}\n${'y'.repeat(20)}`, most)).toBe('y'.repeat(20));
  expect(lastLines('z'.repeat(100), most)).toBe(`${'z'.repeat(37)}…`);
  expect(lastLines('', most)).toBe('');
});

test('any output is stripped of control sequences, quoted line by line, and bounded [fault 35]', () => {
  const text = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.string({
      unit: fc.constantFrom('\u001B', '[', ']', '\r', '\n', '\u009B', '3', 'm', '\u0007', '\uD800', '\u202E', 'é'),
    }),
  );
  fc.assert(
    fc.property(text, (given) => {
      const end = lastLines(given, most);
      expect(Buffer.byteLength(end)).toBeLessThanOrEqual(most.bytes);
      // oxlint-disable-next-line no-control-regex -- these are what must not be there
      expect(end).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
      expect(
        quoted(given)
          .split('\n')
          .every((line) => line.startsWith('>')),
      ).toBe(true);
    }),
  );
});

test('a very long output is fast', () => {
  const text = `${'\u001B['.repeat(32_000)}${'\u001B]'.repeat(32_000)}`;
  expect(processorMs(() => lastLines(text, most))).toBeLessThan(2_000);
});
