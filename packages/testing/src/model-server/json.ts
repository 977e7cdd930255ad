/** Readers for a client's JSON, of which any part may be missing or wrong. */

export type Json = Record<string, unknown>;

/** The value as an object; anything else is an empty one. */
export function objectOf(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}

/** The value as a list; anything else is an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text; anything else is an empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** All text in a message's content, which is a string or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textOf(objectOf(part)['text']) || contentText(objectOf(part)['content']))
    .filter((text) => text !== '')
    .join('\n');
}

/** Parses JSON that a model wrote as text, such as tool arguments; an empty object if invalid. */
export function parseObject(text: unknown): Json {
  try {
    return objectOf(JSON.parse(textOf(text)));
  } catch {
    return {};
  }
}
