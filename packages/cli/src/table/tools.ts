import { PawlError } from '@pawl/schema/error';
import type { WorkMode } from '@pawl/schema/record';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

/** The context of a definition: its command with the common options, and how to run its action. */
export type Tools = {
  program: Command;
  add(summary: string, example: string): Command;
  /** Adds a command to a group, such as `pawl worktree ls`; the default one runs if the group is named alone. */
  addTo(group: Command, name: string, summary: string, example: string, options?: { isDefault?: boolean }): Command;
  act(options: object, run: (context: CommandContext) => Promise<number>): Promise<void>;
  exit(code: number): void;
  /** The whole command line. */
  whole(): Command;
};

/** Commands by name: arguments, options, an example, and the effect. */
export type CommandTable = Record<string, (tools: Tools) => void>;

export const agentWord = 'alias, id or the start of an id';
/** The same for commands with a default agent. */
export const agentOrCurrentWord = `${agentWord} (default: the current agent)`;

/** Parses a whole number. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a whole number.`);
}

/** Parses a number of repetitions: at least one. */
export function times(text: string): number {
  const value = wholeNumber(text);
  if (value > 0) return value;
  throw new PawlError('usage', 'It has to be done at least once.');
}

const longestSeconds = 3_600;

/** Parses seconds, from a tenth to an hour. */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 0.1 && value <= longestSeconds) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a number of seconds from 0.1 to ${longestSeconds}.`);
}

const longestWaitSeconds = 7 * 24 * 3_600;

/** Parses a wait in seconds: 0 means none. */
export function waitSeconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= longestWaitSeconds) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a number of seconds from 0 to ${longestWaitSeconds}.`);
}

/** The work modes. Listed here because their schema is slow to load. */
export const modes: WorkMode[] = [
  'execute',
  'discuss',
  'plan',
  'detail',
  'refine',
  'verify',
  'merge',
  'review',
  'refine-chat',
  'conflict-resolution',
  'errand',
];

const budgetParts = ['tokens', 'turns', 'minutes', 'usd'] as const;

/** Parses limits such as `tokens=1000,minutes=5`. */
export function budget(text: string): Partial<Record<(typeof budgetParts)[number], number>> {
  const limits: ReturnType<typeof budget> = {};
  for (const word of text.split(',')) {
    const [name = '', value = ''] = word.split('=').map((part) => part.trim());
    const part = budgetParts.find((each) => each === name);
    const amount = Number(value);
    const whole = part === 'tokens' || part === 'turns';
    if (part === undefined || value === '' || !(amount > 0) || (whole && !Number.isSafeInteger(amount))) {
      throw new PawlError('usage', `${JSON.stringify(word)} is not a limit.`, {
        hint: 'Limits look like tokens=200000,turns=40,minutes=30,usd=5.',
      });
    }
    limits[part] = amount;
  }
  return limits;
}

/** The same for replacing limits: `usd=none` removes one. */
export function budgetOrNone(text: string): Partial<Record<(typeof budgetParts)[number], number | null>> {
  const words = text.split(',').map((word) => word.trim());
  const removed = budgetParts.filter((part) => words.includes(`${part}=none`));
  const kept = words.filter((word) => !removed.some((part) => word === `${part}=none`));
  const none = Object.fromEntries(removed.map((part) => [part, null]));
  return kept.length === 0 ? none : { ...budget(kept.join(',')), ...none };
}

/** Collects the values of a repeatable option. */
export function several(word: string, earlier: string[] | false = []): string[] {
  return [...(earlier === false ? [] : earlier), word];
}

/** Collects pairs such as `id=text`. */
export function keyed(word: string, earlier: Record<string, string> = {}): Record<string, string> {
  const at = word.indexOf('=');
  if (at <= 0) throw new PawlError('usage', `${JSON.stringify(word)} is not of the form id=text.`);
  return { ...earlier, [word.slice(0, at)]: word.slice(at + 1) };
}
