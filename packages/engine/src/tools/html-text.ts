const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The text of a page: without scripts, styles and tags, with a line for each block. Linear in its length. */
export function textOfHtml(html: string): string {
  return html
    .replaceAll(/<!--[^]*?(?:-->|$)/g, '')
    .replaceAll(/<(script|style|noscript|svg|template|head)\b[^]*?(?:<\/\1\s*>|$)/gi, '')
    .replaceAll(/<li\b[^>]*>/gi, '\n- ')
    .replaceAll(
      /<(?:br|\/?(?:p|div|tr|table|h[1-6]|ul|ol|pre|section|article|header|footer|blockquote))\b[^>]*>/gi,
      '\n',
    )
    .replaceAll(/<[^>]*(?:>|$)/g, '')
    .replaceAll(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, (whole, name: string) => character(name) ?? whole)
    .replaceAll(/[ \t\r\f]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function character(name: string): string | null {
  if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? null;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : null;
}
