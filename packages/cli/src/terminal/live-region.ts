import { fit, width } from '@pawl/present/text';
import type { Line } from './line-editor.ts';
import { windowOf } from './line-editor.ts';

/** The rows at the bottom that change: the unfinished row of a text, a status, and the line that is typed. */
export type Region = { status: string; prompt: string; line: Line };

export type LiveRegion = {
  /** Adds printable text above the region; the next text continues its last row if that is unfinished. */
  write(text: string): void;
  /** Begins a new row above the region, unless there is one. */
  breakRow(): void;
  /** Shows another status, prompt or line. */
  show(region: Region): void;
  /** Removes the region, and leaves the text. */
  close(): void;
};

const clearBelow = '\r\u001B[J';
const up = (rows: number) => (rows === 0 ? '' : `\u001B[${rows}A`);
const right = (columns: number) => (columns === 0 ? '' : `\u001B[${columns}C`);

/**
 * Keeps a few rows at the bottom of a terminal below text that scrolls. Text and status must be printable; text may
 * have our own colours.
 */
export function createLiveRegion(output: { write(text: string): unknown; columns?: number }): LiveRegion {
  let region: Region | null = null;
  /** The unfinished row. */
  let open = '';
  /** How many rows of the region are above the cursor. */
  let above = 0;
  const columns = () => Math.max(8, output.columns || 80);

  function erase(): string {
    return `${up(above)}${clearBelow}`;
  }

  function draw(): string {
    if (region === null) return open;
    const rows = [...(open === '' ? [] : [open]), ...(region.status === '' ? [] : [fit(region.status, columns() - 1)])];
    const room = Math.max(4, columns() - width(region.prompt) - 1);
    const { text, column } = windowOf(region.line, room);
    above = rows.length;
    const typed = `${region.prompt}${text}`;
    return [...rows, typed].join('\r\n') + `\r${right(width(region.prompt) + column)}`;
  }

  return {
    write(text) {
      const before = erase();
      const lines = `${open}${text}`.split('\n').flatMap((line) => wrapped(line, columns() - 1));
      open = lines.pop() ?? '';
      const done = lines.map((line) => `${line}\r\n`).join('');
      output.write(before + done + draw());
    },
    breakRow() {
      if (open === '') return;
      const before = erase();
      const done = `${open}\r\n`;
      open = '';
      output.write(before + done + draw());
    },
    show(next) {
      const before = erase();
      region = next;
      output.write(before + draw());
    },
    close() {
      const before = erase();
      region = null;
      above = 0;
      const end = open === '' ? '' : `${open}\r\n`;
      open = '';
      output.write(before + end);
    },
  };
}

/** Our own colours, which take no column. */
// oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
const paints = /(\u001B\[\d+m)/;

/** Breaks a line into rows that fit. */
export function wrapped(line: string, columns: number): string[] {
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const [index, part] of line.split(paints).entries()) {
    if (index % 2 === 1) {
      row += part;
      continue;
    }
    for (const character of part) {
      const wide = character === '\t' ? 1 : width(character);
      if (used + wide > columns) {
        rows.push(row);
        row = '';
        used = 0;
      }
      row += character === '\t' ? ' ' : character;
      used += wide;
    }
  }
  return [...rows, row];
}
