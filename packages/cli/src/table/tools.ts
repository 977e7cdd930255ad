import { PawlError } from '@pawl/schema/error';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

/** What a definition works with: its own command, with the options that all have, and how to run its action. */
export type Tools = {
  program: Command;
  add(summary: string, example: string): Command;
  /** Adds a command to a group, such as `pawl worktree ls`. */
  addTo(group: Command, name: string, summary: string, example: string): Command;
  act(options: object, run: (context: CommandContext) => Promise<number>): Promise<void>;
  exit(code: number): void;
  /** The whole command line, for those who have to know all of it. */
  whole(): Command;
};

/** Commands by their names: each one's words, its options, an example, and what it does. */
export type CommandTable = Record<string, (tools: Tools) => void>;

export const agentWord = 'alias, id or the start of an id';

/** Reads a whole number, or says that it is none. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a whole number.`);
}

/** Reads how often something is to be done: at least once. */
export function times(text: string): number {
  const value = wholeNumber(text);
  if (value > 0) return value;
  throw new PawlError('usage', 'It has to be done at least once.');
}

const longestSeconds = 3_600;

/** Reads a number of seconds, from a tenth of one to an hour. */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 0.1 && value <= longestSeconds) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a number of seconds from 0.1 to ${longestSeconds}.`);
}
