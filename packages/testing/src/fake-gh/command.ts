import { readFileSync } from 'node:fs';
import { graphql } from './answer.ts';
import type { FlagTable, Flags } from './flags.ts';
import type { FakeState } from './state.ts';

/** The input of a command: the server's state, its flags, and its standard input. */
export type Call = { state: FakeState; flags: Flags; input: string };

/** One command of `gh`: its flags, and its output. */
export type Command = {
  flags: FlagTable;
  /** Whether it takes `--repo`; `repo view` and `api` do not. */
  takesRepo: boolean;
  /** The number of arguments, and the error for others. */
  words: { least: number; most: number; complaint: string };
  /** The fields of `--json`, if it has it. */
  fields?: readonly string[];
  run(call: Call): string;
};

export const noWords = { least: 0, most: 0, complaint: 'unknown argument; please quote all values that have spaces' };
export const onePull = { least: 1, most: 1, complaint: 'argument required when using the `--repo` flag' };

export const jsonFlags: FlagTable = { json: 'list', 'jq,q': 'text', 'template,t': 'text' };

/** The output of a command: one line of JSON, as `gh` prints without a terminal. */
export function printed(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Refuses users with read access only. */
export function mustWrite(state: FakeState, action: string): void {
  if (['ADMIN', 'MAINTAIN', 'WRITE'].includes(state.permission)) return;
  throw graphql(`${state.viewer} does not have the correct permissions to execute \`${action}\``, action);
}

/** The text of a pull request, comment or issue: from a flag, a file, or standard input. */
export function bodyOf({ flags, input }: Call): string | undefined {
  const file = flags.text('body-file');
  if (file === undefined) return flags.text('body');
  return file === '-' ? input : readFileSync(file, 'utf8');
}

/** The next number, shared by issues and pull requests. */
export function nextNumber({ pulls, issues }: FakeState): number {
  return Math.max(0, ...pulls.map(({ number }) => number), ...issues.map(({ number }) => number)) + 1;
}
