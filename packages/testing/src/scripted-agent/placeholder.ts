import type { Conversation } from './conversation.ts';
import { scriptedLimits } from './limit.ts';

export type PlaceholderValues = Record<string, string>;

/** The current values of placeholders. `{n}` exists only inside a `repeat`. */
export function placeholderValues(
  conversation: Conversation,
  latestPrompt: string,
  n: number | undefined,
): PlaceholderValues {
  return {
    turns: String(conversation.turnsSeen),
    prompt: firstLine(latestPrompt),
    task: taskOf(conversation.task),
    agent: process.env['PAWL_AGENT_NAME'] || 'agent',
    id: process.env['PAWL_AGENT_ID'] ?? '',
    session: conversation.sessionId,
    ...(n === undefined ? {} : { n: String(n) }),
  };
}

/** The first meaningful line of a prompt's task: not an opening tag alone. */
export function firstLine(prompt: string): string {
  const lines = taskOf(prompt).slice(0, scriptedLimits.taskCharacters).split('\n');
  const said = lines.find((line) => line.trim() !== '' && !/^\s*<[\w-]+>\s*$/.test(line));
  return (said ?? '').trim().slice(0, scriptedLimits.promptCharacters);
}

/** The task in a worker's prompt, or the whole prompt without a `<task>` block. */
export function taskOf(prompt: string): string {
  const start = prompt.indexOf('<task>');
  const end = prompt.lastIndexOf('</task>');
  return (start !== -1 && end > start ? prompt.slice(start + '<task>'.length, end) : prompt).trim();
}

const placeholder = /\{(turns|prompt|task|agent|id|session|n)\}/g;

/** Fills the placeholders in every string of a value. */
export function fill<T>(value: T, values: PlaceholderValues): T {
  if (typeof value === 'string') {
    return value.replace(placeholder, (whole, name: string) => values[name] ?? whole) as T;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => fill(item, values)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values)])) as T;
}

/**
 * Fills the placeholders of a shell command. A prompt is foreign text: unless it is a harmless word, it goes into the
 * environment and the command refers to it, so that no shell reads it as code.
 */
export function fillCommand(
  command: string,
  values: PlaceholderValues,
): { command: string; environment: Record<string, string> } {
  const environment: Record<string, string> = {};
  const filled = command.replace(placeholder, (whole, name: string) => {
    const value = values[name];
    if (value === undefined || /^[\w.][\w.-]*$/.test(value)) return value ?? whole;
    const variable = `SCRIPTED_${name.toUpperCase()}`;
    environment[variable] = value.replaceAll('\0', '');
    return `\${${variable}}`;
  });
  return { command: filled, environment };
}
