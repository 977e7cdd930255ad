import { fit, printableLine, width } from './text.ts';
import type { Line, Span } from './tone.ts';
import { span } from './tone.ts';

export type Column = {
  title: string;
  /** Flexible columns share the rest of the line, and are cut to it. */
  flexible?: boolean;
  /** Optional columns are dropped if flexible ones get too little room, highest number first. */
  optional?: number;
};
export type Cell = string | Span;

/** The width of a flexible column below which optional ones are dropped, and its minimum. */
const enoughColumns = 24;
const leastColumns = 10;

/** Lays out an aligned table, titles first; flexible columns are cut to keep rows on one line. */
export function tableLines(columns: Column[], rows: Cell[][], lineColumns: number): Line[] {
  const kept = columnsThatFit(columns, rows, lineColumns);
  const shown = kept.map((index) => columns[index] ?? { title: '' });
  const cells = rows.map((row) => kept.map((index) => spanOf(row[index] ?? '')));
  const widths = shareRoom(
    shown.map((column, index) => naturalWidth(column, index, cells)),
    shown,
    lineColumns,
  );
  return [shown.map(({ title }) => span(title, 'muted')), ...cells].map((line) => aligned(line, widths));
}

/** A cell as plain text in one line. */
function spanOf(cell: Cell): Span {
  return typeof cell === 'string' ? span(printableLine(cell)) : { ...cell, text: printableLine(cell.text) };
}

/** Cuts and pads the cells of one line to their widths, with two spaces between. */
function aligned(cells: Span[], widths: number[]): Line {
  return cells.flatMap(({ text, tone }, index) => {
    const columns = widths[index] ?? 0;
    const shown = fit(text, columns);
    if (index === cells.length - 1) return [span(shown, tone)];
    return [span(shown, tone), span(' '.repeat(Math.max(0, columns - width(shown)) + 2))];
  });
}

/** The columns to show: all, or without some optional ones, to leave room for flexible ones. */
function columnsThatFit(columns: Column[], rows: Cell[][], lineColumns: number): number[] {
  const widths = columns.map((column, index) => naturalWidth(column, index, rows));
  const wanted = columns.map(({ flexible }, index) =>
    flexible ? Math.min(widths[index] ?? 0, enoughColumns) : (widths[index] ?? 0),
  );
  const optional = [...columns.keys()]
    .filter((index) => columns[index]?.optional !== undefined)
    .toSorted((a, b) => (columns[b]?.optional ?? 0) - (columns[a]?.optional ?? 0));
  let kept = [...columns.keys()];
  const total = () => kept.reduce((sum, index) => sum + (wanted[index] ?? 0) + 2, -2);
  for (const index of optional) {
    if (total() <= lineColumns) break;
    kept = kept.filter((each) => each !== index);
  }
  return kept;
}

function naturalWidth({ title }: Column, index: number, rows: Cell[][]): number {
  const texts = rows.map((row) => row[index] ?? '').map((cell) => (typeof cell === 'string' ? cell : cell.text));
  return texts.reduce((widest, text) => Math.max(widest, width(printableLine(text))), width(title));
}

/** Divides the rest of a line among flexible columns: none gets more than it needs, or less than the minimum. */
function shareRoom(widths: number[], columns: Column[], lineColumns: number): number[] {
  const flexible = [...columns.keys()].filter((index) => columns[index]?.flexible);
  const fixed = widths.reduce(
    (sum, each, index) => (flexible.includes(index) ? sum : sum + each),
    2 * (widths.length - 1),
  );
  let room = lineColumns - fixed;
  const shared = [...widths];
  // Serve the smallest need first, so that its rest goes to the others.
  const inOrder = flexible.toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0));
  for (const [served, index] of inOrder.entries()) {
    const fair = Math.floor(room / (inOrder.length - served));
    shared[index] = Math.min(widths[index] ?? 0, Math.max(leastColumns, fair));
    room -= shared[index];
  }
  return shared;
}
