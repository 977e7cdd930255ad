import type { StreamEvent } from '@pawl/schema/stream-event';

/** A parsed line of JSON, not validated yet. */
export type JsonObject = Record<string, unknown>;

/** Parses a line that is a JSON object, or returns null. The only bare `JSON.parse`; never throws. */
export function parseObject(line: string): JsonObject | null {
  if (!line.startsWith('{')) return null;
  try {
    return asObject(JSON.parse(line));
  } catch {
    return null;
  }
}

/** The value of an own key, never an inherited one. */
export function field(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

/** The value if it is a string, else an empty one. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value if it is a list, else an empty one. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is an object, else null. */
export function asObject(value: unknown): JsonObject | null {
  return value !== null && typeof value === 'object' ? (value as JsonObject) : null;
}

/** A larger number of tokens, turns or dollars is an error, and sums of them would be inexact. */
const plausibleCount = 1e12;

/** A plausible amount, else 0. */
export function amount(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= plausibleCount ? value : 0;
}

/** A plausible whole number, else 0. */
export function count(value: unknown): number {
  return Math.round(amount(value));
}

type UsageEvent = Extract<StreamEvent, { type: 'usage' }>;

/** A usage report; unnamed fields are unknown. */
export function usageEvent(scope: UsageEvent['scope'], told: Partial<Omit<UsageEvent, 'type' | 'scope'>>): UsageEvent {
  const nothing = { inputTokens: null, outputTokens: null, cachedTokens: null, costUsd: null, turns: null };
  return { type: 'usage', scope, ...nothing, ...told };
}

/** Resuming puts it on a command line, so it must not look like an option. */
const sessionId = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** The session id in a line, if it can be resumed. */
export function sessionEvents(id: unknown): StreamEvent[] {
  return typeof id === 'string' && sessionId.test(id) ? [{ type: 'session', providerSessionId: id }] : [];
}

/** How much of a tool's input is shown, unless it is a command or a path. */
const inputCharacters = 200;

/** Describes a tool's input: its command or path, or its start. */
export function toolInput(value: unknown): string {
  const names = ['command', 'file_path', 'filePath', 'path', 'absolute_path'];
  const command = names.map((name) => field(value, name)).find((found) => typeof found === 'string');
  if (typeof command === 'string') return command;
  const commands = list(field(value, 'commands')).filter((one) => typeof one === 'string');
  if (commands.length > 0) return commands.join('\n');
  if (typeof value === 'string') return value.slice(0, inputCharacters);
  return shortJson(value, inputCharacters);
}

/** The text of a result: a string, or a list of blocks. */
export function blockText(value: unknown): string {
  if (typeof value === 'string') return value;
  return list(value)
    .map((part) => text(field(part, 'text')))
    .join('\n');
}

/** The start of a value as JSON; empty if there is none. */
export function shortJson(value: unknown, characters: number): string {
  if (value === undefined) return '';
  try {
    return JSON.stringify(value).slice(0, characters);
  } catch {
    // Nested deeper than the stack: legal JSON, but unreadable for a person.
    return '';
  }
}
