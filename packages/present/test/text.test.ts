import { processorMs } from '@pawl/testing/processor-time';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fit, printable, printableLine, visible, width } from '../src/text.ts';

/** Everything that a terminal would act on instead of showing it. */
// oxlint-disable-next-line no-control-regex -- these are the control characters that must be gone
const dangerous = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029]/;

/** Pieces of which hostile output is made. */
const pieces = [
  '\u001B',
  '\u001B[',
  '\u001B[2J',
  '\u001B[31m',
  '\u001B[?1049h',
  '\u001B]0;title\u0007',
  '\u001B]52;c;ZXZpbA==\u001B\\',
  '\u001B]8;;http://x\u0007',
  '\u001BP',
  '\u001B\\',
  '\u001B_',
  '\u001B^',
  '\u001BX',
  '\u001Bc',
  '\u001B(0',
  '\u009B',
  '\u009D',
  '\u0090',
  '\u009C',
  '\u0085',
  '\u0007',
  '\b',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\0',
  '\u007F',
  '\u202E',
  '\u2066',
  '\u200F',
  '\u2028',
  '\u061C',
  '\uD800',
  '\uDC00',
  '😀',
  'é',
  '漢',
  'a',
  'b',
  ';',
  '31',
  'm',
  '[',
  ']',
  ' ',
];

describe('printable text', () => {
  test.each([
    ['plain text stays', 'a é 漢 😀\n\tb', 'a é 漢 😀\n\tb'],
    ['colours go', 'a\u001B[1;31mb\u001B[0mc', 'abc'],
    ['cursor moves go', '\u001B[2J\u001B[Hx\u001B[10A', 'x'],
    ['eight-bit CSI goes', 'a\u009B31mb', 'ab'],
    ['private modes go', '\u001B[?1049hx\u001B[?25l', 'x'],
    ['a title is shown as text', 'a\u001B]0;owned\u0007b', 'a\uFFFD]0;owned\uFFFDb'],
    ['a link shows where it leads', '\u001B]8;;http://evil\u001B\\click', '\uFFFD]8;;http://evilclick'],
    ['the clipboard is left alone', 'a\u001B]52;c;ZXZpbA==\u0007b', 'a\uFFFD]52;c;ZXZpbA==\uFFFDb'],
    ['device control is shown as text', 'a\u001BPq#0;2;0\u001B\\b', 'a\uFFFDPq#0;2;0b'],
    ['eight-bit strings are shown as text', 'a\u009D0;x\u009Cb', 'a\uFFFD0;x\uFFFDb'],
    ['a reset goes', 'a\u001Bcb', 'ab'],
    ['a character set goes', 'a\u001B(0b', 'ab'],
    ['a lone escape is shown as missing', 'a\u001B', 'a\uFFFD'],
    ['a sequence that another one hides stays harmless', '\u001B\u001B[m[31mx', '\uFFFD[31mx'],
    ['line ends are made one kind', 'a\r\nb', 'a\nb'],
    ['a lone return cannot overwrite', 'good\rbad', 'good\uFFFDbad'],
    ['text cannot be reversed', 'a\u202Etxt.exe\u2066', 'a\uFFFDtxt.exe\uFFFD'],
    ['lone surrogates', 'a\uD800b\uDC00c', 'a\uFFFDb\uFFFDc'],
  ])('%s', (_name, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  const check = (text: string) => {
    const shown = printable(text);
    if (dangerous.test(shown) || !shown.isWellFormed())
      throw new Error(`${JSON.stringify(text)} → ${JSON.stringify(shown)}`);
    if (printable(shown) !== shown) throw new Error(`${JSON.stringify(text)} is not at rest`);
  };

  test('no text leaves anything dangerous', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...pieces), maxLength: 40 }), check), { numRuns: 2_000 });
    fc.assert(
      fc.property(
        fc.array(fc.nat(0xff_ff)).map((units) => String.fromCharCode(...units)),
        check,
      ),
      { numRuns: 2_000 },
    );
    for (let code = 0; code <= 0xff_ff; code++) check(`a${String.fromCharCode(code)}b`);
  });

  test('nor do 100,000 random ones', () => {
    let state = 1;
    // A plain linear generator: quick, and the same in every run.
    const next = (limit: number) => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % limit;
    for (let round = 0; round < 100_000; round++) {
      let text = '';
      for (let length = next(12); length >= 0; length--) text += pieces[next(pieces.length)];
      check(text);
    }
  });

  test('long hostile text is fast', () => {
    const spentMs = processorMs(() => {
      for (const piece of ['\u001B[', '\u001B]', '\u009D', '\u001B[1;', '\u001B ', '\u001B[ '])
        check(piece.repeat(200_000));
      check(`\u001B[${'1;'.repeat(500_000)}`);
    });
    expect(spentMs).toBeLessThan(5_000);
  });

  test('one line is one line', () => {
    expect(printableLine('a\nb\tc\r\nd\u001B[2Je')).toBe('a b c de');
  });
});

describe('width', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['漢字', 4],
    ['ひらがな', 8],
    ['データ', 6],
    ['한글', 4],
    ['。「」', 6],
    ['Ａ！', 4],
    ['ｶﾅ', 2],
    ['😀', 2],
    ['…', 1],
    ['a\u200Bb', 2],
  ])('%j takes %i columns', (text, columns) => {
    expect(width(text)).toBe(columns);
  });
});

describe('a cut to a width', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字', 4, '漢字'],
    ['漢字字', 4, '漢…'],
    ['漢字', 2, '…'],
    ['a😀b', 3, 'a…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ])('%j in %i columns', (text, columns, expected) => {
    expect(fit(text, columns)).toBe(expected);
  });

  test('never wider, and never cuts a character in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        const cut = fit(text, columns);
        expect(width(cut)).toBeLessThanOrEqual(columns);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a diff', () => {
  test.each([
    ['+a \u001B[31mred\u001B[0m', '+a ^[[31mred^[[0m'],
    ['+rm\u0008\u0008ls\r\n', '+rm^H^Hls^M\n'],
    ['+\u009B2J', '+<U+009B>2J'],
    ['+if (a\u202E) // \u2066x', '+if (a<U+202E>) // <U+2066>x'],
    ['+na\u200Bme\u{E0041}', '+na<U+200B>me<U+E0041>'],
    ['+\ttab and ünï stay\n', '+\ttab and ünï stay\n'],
    ['\u007F\0', '^?^@'],
  ])('shows %j as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('of any text sends no escapes to the terminal', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces)), (parts) => {
        expect(visible(parts.join(''))).not.toMatch(dangerous);
      }),
    );
  });
});
