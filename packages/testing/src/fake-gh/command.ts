import { readFileSync } from 'node:fs';
import { graphql } from './answer.ts';
import type { FlagTable, Flags } from './flags.ts';
import type { FakeState } from './state.ts';

/** What a command is given: the server's state, its own flags, and what is on its standard input. */
export type Call = { state: FakeState; flags: Flags; input: string };

/** One command of `gh`: which flags it knows, and what it prints. */
export type Command = {
  flags: FlagTable;
  /** Whether it takes a repository by `--repo`; `repo view` and `api` do not. */
  takesRepo: boolean;
  /** How many words it takes, and what it says when there are others. */
  words: { least: number; most: number; complaint: string };
  /** What `--json` knows, where the command has it. */
  fields?: readonly string[];
  run(call: Call): string;
};

export const noWords = { least: 0, most: 0, complaint: 'unknown argument; please quote all values that have spaces' };
export const onePull = { least: 1, most: 1, complaint: 'argument required when using the `--repo` flag' };

export const jsonFlags: FlagTable = { json: 'list', 'jq,q': 'text', 'template,t': 'text' };

/** What a command prints: the same JSON on one line that `gh` prints when nobody looks. */
export function printed(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Refuses those who may only read. */
export function mustWrite(state: FakeState, action: string): void {
  if (['ADMIN', 'MAINTAIN', 'WRITE'].includes(state.permission)) return;
  throw graphql(`${state.viewer} does not have the correct permissions to execute \`${action}\``, action);
}

/** The text of a pull request, comment or issue: in a flag, in a file, or on the standard input. */
export function bodyOf({ flags, input }: Call): string | undefined {
  const file = flags.text('body-file');
  if (file === undefined) return flags.text('body');
  return file === '-' ? input : readFileSync(file, 'utf8');
}

/** The next number: issues and pull requests share them. */
export function nextNumber({ pulls, issues }: FakeState): number {
  return Math.max(0, ...pulls.map(({ number }) => number), ...issues.map(({ number }) => number)) + 1;
}
