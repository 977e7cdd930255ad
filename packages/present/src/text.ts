/**
 * Makes foreign text harmless. Agents' output, names and commits could move a terminal's cursor, set its title, fill the
 * clipboard or reverse text; everything for a screen goes through here and leaves as plain text.
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
