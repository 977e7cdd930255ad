import { cutBytes, cutText } from '../shorten.ts';

/** Terminal escape sequences: colours, cursor movements and titles, with their contents. */
const escapeSequences =
  // oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B\n]*(?:\u0007|\u001B\\)?|\u001B[ -/]*[0-Z\\^-~]/g;

/** C0 except tab and newline, DEL, C1, bidirectional controls, line separators. */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- these are the control characters themselves
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029]/g;

/** Strips foreign text to plain text. Of an overwritten line, keeps the last version. */
export function plainText(text: string): string {
  const lines = text.toWellFormed().replace(escapeSequences, '').replaceAll('\r\n', '\n').split('\n');
  return lines.map((line) => lastOf(line).replace(unprintable, '\u{FFFD}')).join('\n');
}

function lastOf(line: string): string {
  const kept = line.replace(/\r+$/, '');
  return kept.slice(kept.lastIndexOf('\r') + 1);
}

/** Foreign text as one line, for use within a sentence. */
export function plainLine(text: string, characters: number): string {
  return cutText(plainText(text).replace(/\s+/g, ' ').trim(), characters);
}

/** The last lines that fit; trailing empty lines do not count. */
export function lastLines(text: string, most: { lines: number; bytes: number }): string {
  const lines = plainText(text).trimEnd().split('\n').slice(-most.lines);
  const kept: string[] = [];
  let room = most.bytes;
  for (const line of lines.toReversed()) {
    // Cut a single line that is too long; of several, drop the earlier ones.
    const fitting = kept.length === 0 ? cutBytes(line, room) : line;
    const bytes = new TextEncoder().encode(fitting).length + 1;
    if (kept.length > 0 && bytes > room) break;
    kept.unshift(fitting);
    room -= bytes;
  }
  return kept.join('\n');
}

/** Quotes foreign text line by line, so that nothing in it can pass for ours. */
export function quoted(text: string): string {
  return plainText(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}
