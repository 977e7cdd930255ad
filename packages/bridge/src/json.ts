/** Parses a line that is a JSON object; null for everything else. */
export function parseObject(line: string): Record<string, unknown> | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** True for an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value at a path of own fields, or undefined. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const name of path) {
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string | number, unknown>)[name];
  }
  return found;
}

/** The text at a path, or an empty one. */
export function textAt(value: unknown, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The number at a path, or zero if it is missing or not a count. */
export function countAt(value: unknown, ...path: (string | number)[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? found : 0;
}

/** The list at a path, or an empty one. */
export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A value as JSON; empty if it is nested deeper than the stack. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** The texts of a list of content blocks, one per line. */
export function blockTexts(blocks: unknown[]): string {
  return blocks
    .map((block) => textAt(block, 'text') || textAt(block, 'content', 'text'))
    .filter((text) => text !== '')
    .join('\n');
}
