import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../src/output/lines.ts';
import { createLineSplitter } from '../../src/output/lines.ts';

/** Splits in one go or in the given pieces. */
function split(pieces: Uint8Array[], maxLineBytes = 1_000_000): Line[] {
  const splitter = createLineSplitter({ maxLineBytes });
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

function texts(text: string | Buffer): string[] {
  return split([Buffer.from(text as string)]).map((line) => line.text);
}

/** The reference implementation, without regard for speed or memory. */
function splitPlainly(bytes: Buffer, maxLineBytes: number): Line[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 10) continue;
    lines.push(bytes.subarray(start, at));
    start = at + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines.map((line, index) => {
    const oversized = line.length > maxLineBytes;
    let text = line.toString('utf8');
    if (!oversized && line.at(-1) === 13) text = line.toString('utf8', 0, line.length - 1);
    if (index === 0 && text.startsWith('\uFEFF')) text = text.slice(1);
    return { text, oversized };
  });
}

describe('splits', () => {
  test.each([
    ['nothing', '', []],
    ['an unfinished line', 'a', ['a']],
    ['finished lines', 'a\nb\n', ['a', 'b']],
    ['empty lines', '\n\na\n\n', ['', '', 'a', '']],
    ['CRLF, and a lone CR inside', 'a\r\nb\rc\r\n', ['a', 'b\rc']],
    ['a byte order mark, only at the beginning', '\uFEFFa\n\uFEFFb\n', ['a', '\uFEFFb']],
    ['NUL and other controls', 'a\0b\u001B[0m\n', ['a\0b\u001B[0m']],
    ['other separators of Unicode, which do not end a line', 'a\u2028b\u0085c\n', ['a\u2028b\u0085c']],
  ])('%s', (_name, text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  test('invalid UTF-8 becomes replacement characters', () => {
    expect(texts(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82, 0x0a, 0xed, 0xa0, 0x80]))).toEqual([
      'a\uFFFDb',
      '\uFFFD',
      '\uFFFD\uFFFD\uFFFD',
    ]);
  });

  test('a character cut anywhere', () => {
    const bytes = Buffer.from('aé€😀z\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(split([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([{ text: 'aé€😀z', oversized: false }]);
    }
  });
});

test('any cutting of any bytes gives the same lines', () => {
  const byte = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0x0a, 0x0d, 0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 255 }) },
  );
  const input = fc.record({
    bytes: fc.array(byte, { maxLength: 200 }),
    cuts: fc.array(fc.nat(200), { maxLength: 20 }),
    maxLineBytes: fc.constantFrom(1_000, 1_000, 40, 5),
  });
  fc.assert(
    fc.property(input, ({ bytes, cuts, maxLineBytes }) => {
      const whole = Buffer.from(bytes);
      const places = [...cuts.filter((cut) => cut < whole.length), whole.length].sort((a, b) => a - b);
      const pieces = places.map((place, index) => whole.subarray(index === 0 ? 0 : places[index - 1], place));
      const inOne = split([whole], maxLineBytes);
      expect(split(pieces, maxLineBytes)).toEqual(inOne);
      const plainly = splitPlainly(whole, maxLineBytes);
      // The text of an oversized line may lack an unfinished character at its end; all else is the same.
      expect(inOne.map((line) => (line.oversized ? true : line.text))).toEqual(
        plainly.map((line) => (line.oversized ? true : line.text)),
      );
    }),
    { numRuns: 2_000 },
  );
});

describe('a line above the limit', () => {
  const maxLineBytes = 1024 * 1024;

  test.each([10, 50])('of %d MB is reported once, with its beginning only, in bounded memory', (megabytes) => {
    const splitter = createLineSplitter({ maxLineBytes });
    const piece = Buffer.from('é'.repeat(32 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    const lines = splitter.push(Buffer.from('before\n'));
    for (let written = 0; written < megabytes * 1024 * 1024; written += piece.length)
      lines.push(...splitter.push(piece));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    lines.push(...splitter.push(Buffer.from('\nafter\n')));
    expect(lines.map(({ oversized, text }) => [oversized, text.length])).toEqual([
      [false, 6],
      [true, 32 * 1024],
      [false, 5],
    ]);
    expect(lines[1]?.text).toBe('é'.repeat(32 * 1024));
  });

  test('in one piece, and cut within a character', () => {
    const [line] = split([Buffer.from(`a${'é'.repeat(1_000_000)}\n`)], maxLineBytes);
    expect(line).toEqual({ text: `a${'é'.repeat(32 * 1024 - 1)}`, oversized: true });
  });

  test('a line of exactly the limit is complete', () => {
    const text = 'x'.repeat(maxLineBytes);
    expect(split([Buffer.from(text), Buffer.from('\n')], maxLineBytes)).toEqual([{ text, oversized: false }]);
    expect(split([Buffer.from(`${text}y`), Buffer.from('\n')], maxLineBytes)[0]?.oversized).toBe(true);
  });
});

test('the input is not kept: the caller may reuse its buffer', () => {
  const splitter = createLineSplitter({ maxLineBytes: 100 });
  const buffer = Buffer.from('abc');
  splitter.push(buffer);
  buffer.fill('z');
  expect(splitter.push(Buffer.from('\n'))).toEqual([{ text: 'abc', oversized: false }]);
});
