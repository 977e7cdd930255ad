/**
 * Parses JSON with comments and trailing commas; undefined if it is invalid. One pass, so hostile text costs only its
 * length.
 */
export function parseWithComments(text: string): unknown {
  const parts: string[] = [];
  /** The index in `parts` of a comma with nothing after it yet; -1 if none. */
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

/** The end of the token that starts here: a string, a comment, a punctuation mark, or a run of anything else. */
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
