/** A part of a text: an address that may be opened, or anything else. */
export type TextPart = { text: string; href: string | null };

/** Addresses end before punctuation that usually belongs to the sentence. */
const address = /https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}]/g;
const longestAddress = 2_000;

/** Splits a text at its http and https addresses. Nothing else becomes a link. */
export function linkParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(address)) {
    const [found] = match;
    if (found.length > longestAddress || !isWebAddress(found)) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), href: null });
    parts.push({ text: found, href: found });
    from = match.index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), href: null });
  return parts;
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === ''
  );
}
