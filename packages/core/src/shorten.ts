/** A text cut to a number of characters, with an ellipsis where something is missing. A character is never cut in two. */
export function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const cut = text.slice(0, characters - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** The first line of a text that says anything, cut to a number of characters. */
export function firstLine(text: string, characters: number): string {
  return cutText((text.trim().split('\n', 1)[0] ?? '').trimEnd(), characters);
}
