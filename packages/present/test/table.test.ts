import { expect, test } from 'vitest';
import type { Cell } from '../src/table.ts';
import { tableLines } from '../src/table.ts';
import { width } from '../src/text.ts';
import { span } from '../src/tone.ts';

/** The lines of a table as plain text. */
const drawn = (rows: Cell[][], lineColumns: number) =>
  tableLines(columns, rows, lineColumns).map((line) => line.map(({ text }) => text).join(''));

const columns = [{ title: 'NAME' }, { title: 'STATE' }, { title: 'TASK', flexible: true }];
/** The column of the screen at which a text starts. */
const startOf = (line: string, text: string) => width(line.slice(0, line.indexOf(text)));

test('columns start below their titles, also after wide characters', () => {
  const rows = [
    ['a', 'idle', 'one'],
    ['漢字漢字', 'crashed', 'two'],
    ['e\u0301😀', 'x', 'three'],
  ];
  const [head = '', ...lines] = drawn(rows, 80);
  for (const [index, line] of lines.entries()) {
    expect(startOf(line, rows[index]?.[1] ?? '')).toBe(startOf(head, 'STATE'));
    expect(startOf(line, rows[index]?.[2] ?? '')).toBe(startOf(head, 'TASK'));
    expect(line).toBe(line.trimEnd());
  }
});

test('the flexible column is cut so that a row stays on its line', () => {
  const shown = drawn(
    [
      ['a', 'idle', 'long '.repeat(50)],
      ['b', 'idle', '漢'.repeat(99)],
    ],
    40,
  );
  for (const line of shown) expect(width(line)).toBeLessThanOrEqual(40);
  expect(shown.join('\n')).toContain('…');
});

test('cells are plain text in one line, with their tones', () => {
  const [, line = []] = tableLines(columns, [['a\nb', span('\u001B[2Jok', 'good'), 'c\u0007']], 80);
  expect(line).toEqual([span('a b'), span('   '), span('ok', 'good'), span('     '), span('c\uFFFD')]);
});

test('a table without rows is its titles', () => {
  expect(drawn([], 80)).toEqual(['NAME  STATE  TASK']);
});
