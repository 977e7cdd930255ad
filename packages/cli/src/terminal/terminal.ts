/**
 * Agents' output, names and commits are hostile to a terminal: they could move the cursor, set the title, fill the
 * clipboard or reverse text. Everything for the screen goes through here and leaves as plain text.
 */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  return text.replace(escapeSequences, '').replace(/\r\n/g, '\n').replace(unprintable, '\u{FFFD}');
}

/**
 * Colours, cursor movements and two-byte escapes. Excludes sequences that carry text (titles, links, the clipboard):
 * without their escape they show as plain text, so that nothing can be hidden in one.
 */
const escapeSequences =
  // oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[ -/]*[0-OQ-WYZ\\`-~]/g;

/** C0 except tab and newline, DEL, C1, bidirectional controls, line separators, lone surrogates. */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- these are the control characters themselves
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Foreign text with every active or invisible character written out: `^[` for an escape, `<U+202E>` for bidirectional
 * and hidden ones. For diffs, where a reader must see them.
 */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** Control characters except tab and newline, line separators, and ignorable code points. */
const unseen =
  // oxlint-disable-next-line no-control-regex -- these are the control characters themselves
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\p{Default_Ignorable_Code_Point}]/gu;

/** One line of printable text. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', ' ').replaceAll('\t', ' ');
}

type Paint = (text: string) => string;
export type Palette = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Paint>;

/** Colours for a stream: none if it is not a terminal, or with `NO_COLOR` or `TERM=dumb`. */
export function palette(stream: { isTTY?: boolean }): Palette {
  const on = process.env['FORCE_COLOR']
    ? process.env['FORCE_COLOR'] !== '0'
    : (stream.isTTY ?? false) && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      on && text !== '' ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/** Combining marks and joiners. */
const noColumn = /[\p{Mark}\u200B-\u200D\u2060\uFEFF]/u;

/** Emoji, and blocks of double-width characters: Hangul, CJK, kana, full-width forms. */
const wide =
  /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** The width of a text in columns: wide East Asian characters and emoji take two, combining marks none. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (character <= '~') columns += 1;
    else if (!noColumn.test(character)) columns += wide.test(character) ? 2 : 1;
  }
  return columns;
}

/** Cuts a text to a number of columns, with an ellipsis. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let cut = '';
  for (const character of text) {
    if (width(cut + character) > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Our own colours: the only escape sequences in our lines. */
// oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
const paints = /(\u001B\[\d+m)/;

/** Cuts a coloured line to a number of columns, and resets the colour. */
export function cut(line: string, columns: number): string {
  // Odd parts are colours, from the pattern's group.
  const parts = line.split(paints);
  if (width(parts.filter((_, index) => index % 2 === 0).join('')) <= columns) return line;
  let shown = '';
  let room = columns - 1;
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) shown += part;
    else if (room >= 0) {
      for (const character of part) {
        room -= width(character);
        shown += room < 0 ? '…' : character;
        if (room < 0) break;
      }
    }
  }
  return shown;
}

export type Column = {
  title: string;
  /** Flexible columns share the rest of the line, and are cut to it. */
  flexible?: boolean;
  /** Optional columns are dropped if flexible ones get too little room, highest number first. */
  optional?: number;
};
export type Cell = string | { text: string; paint: Paint };

/** The width of a flexible column below which optional ones are dropped, and its minimum. */
const enoughColumns = 24;
const leastColumns = 10;

/** Renders an aligned table; flexible columns are cut to keep rows on one line. */
export function table(columns: Column[], rows: Cell[][], colours: Palette, lineColumns: number): string {
  const kept = columnsThatFit(columns, rows, lineColumns);
  if (kept.length === columns.length) return drawTable(columns, rows, colours, lineColumns);
  const picked = rows.map((row) => kept.map((index) => row[index] ?? ''));
  return drawTable(
    kept.map((index) => columns[index] ?? { title: '' }),
    picked,
    colours,
    lineColumns,
  );
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

function drawTable(columns: Column[], rows: Cell[][], colours: Palette, lineColumns: number): string {
  const plain = rows.map((row) => row.map((cell) => printableLine(typeof cell === 'string' ? cell : cell.text)));
  const natural = columns.map((column, index) => naturalWidth(column, index, rows));
  const widths = shareRoom(natural, columns, lineColumns);
  const line = (cells: string[], paints: (Paint | null)[]) =>
    cells
      .map((cell, index) => {
        const shown = fit(cell, widths[index] ?? 0);
        const padding = index === cells.length - 1 ? '' : ' '.repeat(Math.max(0, (widths[index] ?? 0) - width(shown)));
        return (paints[index]?.(shown) ?? shown) + padding;
      })
      .join('  ');
  const head = line(
    columns.map((column) => column.title),
    columns.map(() => colours.dim),
  );
  const body = plain.map((cells, index) =>
    line(
      cells,
      (rows[index] ?? []).map((cell) => (typeof cell === 'string' ? null : cell.paint)),
    ),
  );
  return [head, ...body].join('\n');
}
