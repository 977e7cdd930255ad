/** The first line of a text that says anything, cut to a number of characters. A character is never cut in two. */
export function firstLine(text: string, characters: number): string {
  const line = (text.trim().split('\n', 1)[0] ?? '').trimEnd();
  if (line.length <= characters) return line;
  const cut = line.slice(0, characters - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
