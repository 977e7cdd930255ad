import { canonicalTool } from '@pawl/core/definitions/tool-name';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** The tools whose calls are about a path. */
const pathTools = ['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep'];

/**
 * What a tool call is about, as the limits of a definition speak of it: a path in the agent's worktree is told from its
 * top, whether the CLI said it in full, with `~/`, `./` or by a detour; one that leads out of it is told in full.
 */
export function gateArgument(worktree: string | null, tool: string, input: string | undefined): string | undefined {
  if (input === undefined || worktree === null || !pathTools.includes(canonicalTool(tool))) return input;
  const whole = input.startsWith('~/') ? join(homedir(), input.slice(2)) : resolve(worktree, input);
  const inside = relative(worktree, whole);
  if (inside === '') return '.';
  return /^\.\.(\/|$)/.test(inside) || isAbsolute(inside) ? whole : inside;
}
