import { processorMs } from '@pawl/testing/processor-time';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../src/pattern.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

function isIn(source: string, text: string): boolean {
  const pattern = compilePattern(source);
  if ('refused' in pattern) throw new Error(pattern.refused);
  return pattern.isIn(text);
}

describe('matches', () => {
  test.each([
    ['hit your .+ limit', "You've HIT YOUR 5-hour Limit · resets"],
    ['retrying in \\d+s .*429', 'x\nRetrying in 60s (attempt 1/10): [API Error: 429'],
    ['^error: (?:401|403)$', 'a\nError: 403\nb'],
    ['colou?r', 'COLOR'],
    ['a{2,3}b', 'caaab'],
    ['[^a-c\\]]x', 'bx]xdx'],
    ['(a|b)*c', 'ababc'],
    ['\\b429\\b', '(429)'],
    ['\\[x\\]\\.', 'a[x].'],
    ['(?:a?){3}b', 'b'],
    ['', ''],
    ['a||b', 'zzz'],
    ['’', 'You’ve'],
    ['É', 'é'],
  ])('%s is in %j', (source, text) => {
    expect(isIn(source, text)).toBe(true);
  });

  test.each([
    ['hit your .+ limit', 'hit your\nlimit'],
    ['a{2,3}b', 'ab'],
    ['^a', 'ba'],
    ['a$', 'ab'],
    ['\\b429\\b', '14290'],
    ['\\Ba', 'a'],
    ['.', '\n'],
    ['[^a]', 'A'],
  ])('%s is not in %j', (source, text) => {
    expect(isIn(source, text)).toBe(false);
  });

  test('native regular expressions find the same', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^b]',
      '\\w',
      '\\s',
      '\\b',
      '^',
      '$',
      '(a|b)',
      '(?:ab|)',
      '(a*b)',
    );
    const repetition = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?');
    const piece = fc.tuple(atom, repetition).map(([one, times]) => (/^(?:\\b|\^|\$)$/.test(one) ? one : one + times));
    const sources = fc.array(fc.oneof(piece, fc.constant('|')), { maxLength: 6 }).map((pieces) => pieces.join(''));
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'A', ' ', '\n', '-'), maxLength: 12 });
    fc.assert(
      fc.property(sources, texts, (source, text) => {
        expect(isIn(source, text)).toBe(new RegExp(source, 'im').test(text));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('invalid patterns', () => {
  test.each([
    ['(', 'unterminated'],
    ['[a', 'unterminated'],
    [')', 'unmatched )'],
    ['*a', 'repeats nothing'],
    ['(?=a)', 'lookaround'],
    ['(?<n>a)', 'lookaround'],
    ['(a)\\1', 'not supported'],
    ['\\p', 'not supported'],
    ['[z-a]', 'invalid class'],
    ['a{999}', 'more than 200'],
    ['a{3,2}', 'more than'],
    ['(a{200}){200}', 'too large'],
    ['('.repeat(30), 'nested groups'],
    ['a'.repeat(301), 'longer than'],
    ['a\\', 'not supported'],
  ])('%s: it %s', (source, why) => {
    expect(compilePattern(source)).toEqual({ refused: expect.stringContaining(why) as string });
  });

  test('any text is a pattern or is refused, and nothing throws', () => {
    const parts = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '*',
      '+',
      '?',
      '\\',
      '|',
      '^',
      '$',
      'a',
      '1',
      ',',
      '-',
      '😀',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.array(parts).map((all) => all.join('')),
        ),
        (source) => {
          const pattern = compilePattern(source);
          if ('isIn' in pattern) expect(typeof pattern.isIn('aa1\n')).toBe('boolean');
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('no pattern is slow, on any text', () => {
  const evil = ['(a+)+$', '(a|a)*b', '.*.*.*.*x', '(?:a?){99}a{99}b', '(\\s*\\s*)*x', `${'(a|a)'.repeat(50)}b`];
  const text = 'a '.repeat(1_000) + 'a'.repeat(2_000);
  for (const source of evil) {
    const spentMs = processorMs(() => expect(isIn(source, text)).toBe(source === '(a+)+$'));
    expect(spentMs, source).toBeLessThan(2_000);
  }
});
