import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';

/** Resolves `--project`: a path if it exists or looks like one, else a project's name. */
export function projectWord(word: string): string {
  return /[/\\]|^\.\.?$|^~/.test(word) || existsSync(word) ? resolve(word) : word;
}

/** The requested projects of new work; by default the one of the current directory. */
export function projectsAsked(
  words: readonly string[] | false | undefined,
): Pick<WorkBody, 'path' | 'projects' | 'noProject'> {
  if (words === false) return { noProject: true };
  if (words === undefined || words.length === 0) return { path: resolve('.') };
  const projects = words.map(projectWord);
  const [only] = projects;
  return projects.length === 1 && only !== undefined && isAbsolute(only) ? { path: only } : { projects };
}
