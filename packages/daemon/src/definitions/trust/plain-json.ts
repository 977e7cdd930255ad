/**
 * JSON as people write it, with comments and commas at the end, parsed; undefined when it is not even that. One pass, so
 * that hostile text costs no more than its length.
 */
export function parseWithComments(text: string): unknown {
  const parts: string[] = [];
  /** Where in `parts` a comma stands that nothing has followed yet; -1 when there is none. */
  let comma = -1;
  for (let at = 0; at < text.length;) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.startsWith('//') || token.startsWith('/*') || token.trim() === '') continue;
    if ((token === ']' || token === '}') && comma !== -1) parts[comma] = '';
    comma = token === ',' ? parts.length : -1;
    parts.push(token);
  }
  try {
    return JSON.parse(parts.join(' '));
  } catch {
    return undefined;
  }
}

/** The end of what begins here: a string, a comment, a mark, or a run of anything else. */
function endOfToken(text: string, start: number): number {
  const two = text.slice(start, start + 2);
  if (two === '//') return endOf(text, '\n', start);
  if (two === '/*') return endOf(text, '*/', start + 2);
  if (text[start] === '"') return endOfString(text, start);
  if (',[]{}:/'.includes(text[start] ?? '')) return start + 1;
  let end = start + 1;
  while (end < text.length && !'",[]{}:/'.includes(text[end] ?? '')) end += 1;
  return end;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}
