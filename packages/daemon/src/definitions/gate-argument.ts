import { canonicalTool } from '@pawl/core/definitions/tool-name';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** Tools whose argument is a path. */
const pathTools = ['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep'];

/**
 * Normalises the argument of a tool call for comparison with a definition's limits: a path inside the worktree becomes
 * relative to its top, however the CLI wrote it (absolute, `~/`, `./`, with detours); a path outside becomes absolute.
 */
export function gateArgument(worktree: string | null, tool: string, input: string | undefined): string | undefined {
  if (input === undefined || worktree === null || !pathTools.includes(canonicalTool(tool))) return input;
  const whole = input.startsWith('~/') ? join(homedir(), input.slice(2)) : resolve(worktree, input);
  const inside = relative(worktree, whole);
  if (inside === '') return '.';
  return /^\.\.(\/|$)/.test(inside) || isAbsolute(inside) ? whole : inside;
}
