import { ruleLimits } from '@pawl/schema/rule';
import type { Word } from './shell-scanner.ts';
import { ShellScanner } from './shell-scanner.ts';

export type ParsedCommand = {
  /** The simple commands, including those inside substitutions and subshells. */
  commands: Word[][];
  /** Why it is more than simple commands joined by `&&`; null if it is not. */
  obstacle: string | null;
  /** The text is no complete shell command, so `commands` may lack some. */
  broken: boolean;
};

/**
 * Characters that a person cannot see or tells from a space: control characters, other spaces, invisible and
 * direction-changing characters, lone surrogates.
 */
const deceptive = /(?![\t\n\r ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\u115F\u1160\u2800\u3164\uFFA0]/u;

/** Parses a command into words as a POSIX shell does. Never throws. */
export function parseCommand(text: string, depth = 0): ParsedCommand {
  if (text.length > ruleLimits.commandCharacters) {
    return { commands: [], obstacle: `more than ${ruleLimits.commandCharacters} characters`, broken: true };
  }
  const scanner = new ShellScanner(text, depth);
  scanner.scanList(null);
  const { commands, broken } = scanner;
  const hidden = deceptive.test(text) ? 'a control or invisible character, or a space that is not one' : null;
  const lines = /[\n\r]/.test(text) ? 'a line break' : null;
  const long = commands.some((words) => words.length > ruleLimits.commandWords)
    ? `more than ${ruleLimits.commandWords} words`
    : null;
  const empty = commands.length === 0 ? 'no command' : null;
  return { commands, obstacle: hidden ?? scanner.obstacle ?? lines ?? long ?? empty, broken };
}
