/**
 * Text that both engines can store. Postgres refuses NUL, and neither engine can write a lone surrogate, but agents
 * print both and output is stored unchanged. So these code units, and DLE itself, are encoded as DLE (U+0010) and four
 * hexadecimal digits. All other text is unchanged and searchable.
 */
const escape = '\u0010';
// oxlint-disable-next-line no-control-regex -- The escape is a control character because text hardly ever has one.
const escaped = /\u0010([0-9a-f]{4})/g;
// oxlint-disable-next-line no-control-regex -- NUL and the escape itself are what has to be found.
const unsafe = /[\0\u0010\p{Cs}]/gu;

/** Makes any string storable in both engines. */
export function encodeText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes(escape)) return text;
  return text.replaceAll(unsafe, (unit) => escape + unit.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** Reverses `encodeText`. */
export function decodeText(text: string): string {
  if (!text.includes(escape)) return text;
  return text.replaceAll(escaped, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
