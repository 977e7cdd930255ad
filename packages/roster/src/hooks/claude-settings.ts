import { PawlError } from '@pawl/schema/error';

/** Claude Code's hook events, and the matching argument of `pawl hook`. */
const events = { SessionStart: 'session-start', UserPromptSubmit: 'user-prompt', Stop: 'stop' } as const;

/** Seconds that Claude Code waits for a hook before it continues without it. */
const timeoutSeconds = 30;

/** Matches our own entries, for any home. */
const ownCommand = /\bpawl'? hook (?:session-start|user-prompt|stop)$/;

type Json = Record<string, unknown>;

/** Adds Pawl's hooks to a Claude Code settings file; unchanged if they are there. */
export function withHooks(text: string | null, program: string): string {
  if (text !== null && hasHooks(text, program)) return text;
  return print(added(text, program), text);
}

/** Removes Pawl's hooks: null if nothing else is left, unchanged if they were not there. */
export function withoutHooks(text: string): string | null {
  const before = parse(text);
  const after = remove(before);
  if (isSame(before, after)) return text;
  return Object.keys(after).length === 0 ? null : print(after, text);
}

export function hasHooks(text: string, program: string): boolean {
  return isSame(added(text, program), parse(text));
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function added(text: string | null, program: string): Json {
  const settings = remove(parse(text ?? '{}'));
  const hooks = { ...recordOf(settings['hooks']) };
  for (const [event, word] of Object.entries(events)) {
    const entry = { hooks: [{ type: 'command', command: `${program} hook ${word}`, timeout: timeoutSeconds }] };
    hooks[event] = [...listOf(hooks[event]), entry];
  }
  return { ...settings, hooks };
}

function remove(settings: Json): Json {
  const { hooks, ...rest } = settings;
  const kept = Object.entries(recordOf(hooks)).flatMap(([event, groups]): [string, unknown][] => {
    if (!Array.isArray(groups)) return [[event, groups]];
    const left = groups.filter((group) => !isOwn(group));
    return left.length === 0 && groups.length > 0 ? [] : [[event, left]];
  });
  if (hooks === undefined || kept.length === 0) return rest;
  return { ...rest, hooks: Object.fromEntries(kept) };
}

function isOwn(group: unknown): boolean {
  return listOf(recordOf(group)['hooks']).some((hook) => {
    const { command } = recordOf(hook);
    return typeof command === 'string' && ownCommand.test(command);
  });
}

function parse(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch (cause) {
    throw new PawlError('invalid_input', 'The settings of Claude Code are not JSON.', {
      hint: 'Fix the file, then try again. Nothing was changed.',
      cause,
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new PawlError('invalid_input', 'The settings of Claude Code are not a JSON object.', {
    hint: 'Fix the file, then try again. Nothing was changed.',
  });
}

function print(settings: Json, like: string | null): string {
  const indent = /^\{\r?\n([ \t]+)"/.exec(like ?? '')?.[1] ?? '  ';
  return `${JSON.stringify(settings, null, indent)}\n`;
}

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
