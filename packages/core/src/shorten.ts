/** Cuts a text to a number of characters, with an ellipsis. Never splits a surrogate pair. */
export function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const cut = text.slice(0, characters - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Cuts a text to a number of UTF-8 bytes, with an ellipsis. */
export function cutBytes(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= bytes) return text;
  // Streaming mode drops a split character.
  const cut = new TextDecoder().decode(encoded.subarray(0, bytes - 3), { stream: true });
  return `${cut}…`;
}

/** The first line of a trimmed text, cut to a number of characters. */
export function firstLine(text: string, characters: number): string {
  return cutText((text.trim().split('\n', 1)[0] ?? '').trimEnd(), characters);
}
