import { printableLine, width } from '@pawl/present/text';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cut, palette } from '../../src/terminal/palette.ts';
import { table } from '../../src/terminal/table.ts';

describe('colours', () => {
  beforeEach(() => {
    for (const name of ['FORCE_COLOR', 'NO_COLOR', 'TERM']) vi.stubEnv(name, '');
  });
  afterEach(() => vi.unstubAllEnvs());

  test.each<[string, boolean | undefined, Record<string, string>, boolean]>([
    ['a terminal', true, {}, true],
    ['a pipe', undefined, {}, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
  ])('%s', (_name, isTTY, environment, coloured) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const { red } = palette(isTTY === undefined ? {} : { isTTY });
    expect(red('x') !== 'x').toBe(coloured);
    expect(red('')).toBe('');
  });

  const columns = [{ title: 'NAME' }, { title: 'STATE' }, { title: 'TASK', flexible: true }];

  test('cells are plain text in one line, and only then painted', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    const colours = palette({});
    const [, line] = table(columns, [['a\nb', { text: '\u001B[2Jok', tone: 'good' }, 'c\u0007']], colours, 80).split(
      '\n',
    );
    expect(line).toBe(`a b   ${colours.green('ok')}     c\uFFFD`);
  });
});

describe('a painted line is cut', () => {
  const red = (text: string) => `\u001B[31m${text}\u001B[39m`;
  const dim = (text: string) => `\u001B[2m${text}\u001B[22m`;

  test.each([
    ['one that fits stays', `${red('ab')}cd`, 4, `${red('ab')}cd`],
    ['in plain text', `${red('ab')}cd`, 3, `${red('ab')}…`],
    ['in painted text, which is closed', `ab${red('cdef')}gh`, 4, `ab${red('c…')}`],
    ['at a border', `ab${red('cd')}`, 3, `ab${red('…')}`],
    ['where wide characters stand', `漢${red('字')}x`, 4, `漢${red('…')}`],
    ['to one column', 'abc', 1, '…'],
  ])('%s', (_name, line, columns, expected) => {
    expect(cut(line, columns)).toBe(expected);
  });

  test('to the given width, whatever it contains, and every colour ends', () => {
    const part = fc.oneof(fc.string({ unit: 'grapheme' }).map(printableLine), fc.constantFrom('漢字', '😀', 'e\u0301'));
    const painted = fc
      .tuple(
        fc.constantFrom(red, dim, (text: string) => text),
        part,
      )
      .map(([paint, text]) => paint(text));
    fc.assert(
      fc.property(fc.array(painted, { maxLength: 6 }), fc.integer({ min: 1, max: 30 }), (parts, columns) => {
        const shown = cut(parts.join(''), columns);
        // oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
        expect(width(shown.replaceAll(/\u001B\[\d+m/g, ''))).toBeLessThanOrEqual(columns);
        const colours = shown.match(/\[(?:31|39|2|22)m/g) ?? [];
        expect(colours).toEqual(parts.join('').match(/\[(?:31|39|2|22)m/g) ?? []);
      }),
    );
  });
});
