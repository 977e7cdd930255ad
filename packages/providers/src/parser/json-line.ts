import type { StreamEvent } from '@pawl/schema/stream-event';

/** What a line of JSON holds: anything at all, until it has been looked at. */
export type JsonObject = Record<string, unknown>;

/** The object that a line holds, or null when it holds something else. Bare JSON is read here only, and never throws. */
export function parseObject(line: string): JsonObject | null {
  if (!line.startsWith('{')) return null;
  try {
    return asObject(JSON.parse(line));
  } catch {
    return null;
  }
}

/** The value of a key that the object itself has: never one that it inherits. */
export function field(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

/** A text, or an empty one. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a list, or an empty one. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as an object, or null. */
export function asObject(value: unknown): JsonObject | null {
  return value !== null && typeof value === 'object' ? (value as JsonObject) : null;
}

/** More tokens, turns or dollars than this are no count but a mistake, and sums of them would stop being exact. */
const plausibleCount = 1e12;

/** An amount, or 0 when it is none. */
export function amount(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= plausibleCount ? value : 0;
}

/** A number of things, or 0 when it is none. */
export function count(value: unknown): number {
  return Math.round(amount(value));
}

type UsageEvent = Extract<StreamEvent, { type: 'usage' }>;

/** A report of what was used; what it does not name, it says nothing about. */
export function usageEvent(scope: UsageEvent['scope'], told: Partial<Omit<UsageEvent, 'type' | 'scope'>>): UsageEvent {
  const nothing = { inputTokens: null, outputTokens: null, cachedTokens: null, costUsd: null, turns: null };
  return { type: 'usage', scope, ...nothing, ...told };
}

/** It becomes a word of a command line when the session is resumed, so it must not look like an option. */
const sessionId = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** The session that a line names, if it names one that can be resumed. */
export function sessionEvents(id: unknown): StreamEvent[] {
  return typeof id === 'string' && sessionId.test(id) ? [{ type: 'session', providerSessionId: id }] : [];
}

/** How much of a tool's input is shown when it is not simply a command or a path. */
const inputCharacters = 200;

/** A tool's input in words: its command or path, or the beginning of all of it. */
export function toolInput(value: unknown): string {
  const names = ['command', 'file_path', 'filePath', 'path', 'absolute_path'];
  const command = names.map((name) => field(value, name)).find((found) => typeof found === 'string');
  if (typeof command === 'string') return command;
  const commands = list(field(value, 'commands')).filter((one) => typeof one === 'string');
  if (commands.length > 0) return commands.join('\n');
  if (typeof value === 'string') return value.slice(0, inputCharacters);
  return shortJson(value, inputCharacters);
}

/** The text of a result that is a string, or a list of blocks of which some have text. */
export function blockText(value: unknown): string {
  if (typeof value === 'string') return value;
  return list(value)
    .map((part) => text(field(part, 'text')))
    .join('\n');
}

/** The beginning of a value as JSON; empty when there is none. */
export function shortJson(value: unknown, characters: number): string {
  if (value === undefined) return '';
  try {
    return JSON.stringify(value).slice(0, characters);
  } catch {
    // It is nested deeper than the stack reaches: legal JSON, but nothing that a person could read.
    return '';
  }
}
