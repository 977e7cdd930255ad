import { expect, test } from 'vitest';
import { emptyLine, pressKey } from '../../src/terminal/line-editor.ts';
import { createLiveRegion, wrapped } from '../../src/terminal/live-region.ts';

/** A terminal that understands the few sequences that the region uses. */
function terminal(columns: number) {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const put = (character: string) => {
    const line = (rows[row] ?? '').padEnd(column);
    rows[row] = line.slice(0, column) + character + line.slice(column + 1);
    column++;
  };
  return {
    columns,
    rows: () => rows.map((each) => each.trimEnd()),
    cursor: () => [row, column],
    write(text: string) {
      // oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
      for (const part of text.match(/\u001B\[\d*[A-Za-z]|[^]/gu) ?? []) {
        // oxlint-disable-next-line no-control-regex -- as above
        const sequence = /^\u001B\[(\d*)([A-Z])$/.exec(part);
        if (part === '\r') column = 0;
        else if (part === '\n') rows[++row] ??= '';
        else if (sequence === null) put(part);
        else if (sequence[2] === 'A') row -= Number(sequence[1]);
        else if (sequence[2] === 'C') column += Number(sequence[1]);
        else if (sequence[2] === 'J') rows.splice(row, rows.length, (rows[row] ?? '').slice(0, column));
      }
    },
  };
}

const typed = (text: string) => {
  const effect = pressKey(emptyLine(), { kind: 'text', text });
  return effect.kind === 'edit' ? effect.line : emptyLine();
};

test('text scrolls above the status and the typed line, and an unfinished row goes on', () => {
  const screen = terminal(40);
  const region = createLiveRegion(screen);
  region.show({ status: '· thinking', prompt: '> ', line: typed('next') });
  region.write('Hello');
  expect(screen.rows()).toEqual(['Hello', '· thinking', '> next']);
  region.write(' world\nMore');
  expect(screen.rows()).toEqual(['Hello world', 'More', '· thinking', '> next']);
  expect(screen.cursor()).toEqual([3, 6]);
  region.breakRow();
  region.show({ status: '', prompt: '> ', line: emptyLine() });
  expect(screen.rows()).toEqual(['Hello world', 'More', '>']);
  region.write('the end');
  region.close();
  expect(screen.rows()).toEqual(['Hello world', 'More', 'the end', '']);
});

test('a row that does not fit is broken, and colours take no column', () => {
  const screen = terminal(10);
  const region = createLiveRegion(screen);
  region.show({ status: 'a status that is too long', prompt: '> ', line: emptyLine() });
  region.write('0123456789abc');
  expect(screen.rows()).toEqual(['012345678', '9abc', 'a status…', '>']);
  expect(wrapped('\u001B[2mabcdef\u001B[0m', 4)).toEqual(['\u001B[2mabcd', 'ef\u001B[0m']);
  expect(wrapped('日本語', 4)).toEqual(['日本', '語']);
});
