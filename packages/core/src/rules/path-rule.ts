import type { RulePath, RuleRequest } from '@pawl/schema/rule';
import { canonicalTool } from '../definitions/tool-name.ts';
import { matchesGlob } from '../guard/glob.ts';

const writingTools = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];
const searchingTools = ['Grep', 'Glob'];
const readingTools = ['Read', ...searchingTools];

/** Tools whose argument is a path. */
export function isPathTool(tool: string): boolean {
  return [...writingTools, ...readingTools].includes(tool);
}

/** The tools that a deny rule for this one covers: a file that may not be written may not be edited, either. */
export function deniedTogether(tool: string): string[] {
  if (writingTools.includes(tool)) return writingTools;
  return tool === 'Read' ? readingTools : [tool];
}

/** Everything in the worktree whose name, and the names of its directories, begin without a dot. */
const everything = '**';

/** True if all paths of a request are real, and lie where the pattern says. */
export function allowsPaths(pattern: string | null, { paths = [], worktree }: RuleRequest): boolean {
  return (
    paths.length > 0 &&
    paths.every(({ real }) => {
      if (real === null || !isNormal(real)) return false;
      const path = pathFor(pattern ?? everything, real, worktree);
      return path !== null && matchesGlob(pattern ?? everything, path, { dots: false });
    })
  );
}

/** True if the pattern covers some path of a request, as it was given or where it leads, in upper or lower case. */
export function deniesPaths(pattern: string, request: RuleRequest): boolean {
  return pathsForDeny(pattern, request).some((path) => matchesGlob(folded(pattern), folded(path)));
}

/** True if a search may reach a file that the pattern covers. */
export function maySearch(pattern: string, request: RuleRequest): boolean {
  if (!searchingTools.includes(canonicalTool(request.tool))) return false;
  const fixed = folded(pattern.split(/[*?]/, 1)[0] ?? '');
  return pathsForDeny(pattern, request).some((path) => path === '' || fixed.startsWith(`${folded(path)}/`));
}

/** The forms of all paths that a deny rule is compared with. */
function pathsForDeny(pattern: string, { paths = [], cwd, worktree }: RuleRequest): string[] {
  const forms = ({ given, real }: RulePath) => {
    const base = cwd ?? worktree;
    const whole = given.startsWith('/') || base === null ? given : `${base}/${given}`;
    return [normalPath(whole), ...(real === null ? [] : [normalPath(real)])];
  };
  return paths.flatMap(forms).flatMap((path) => pathFor(pattern, path, worktree) ?? []);
}

/** A path as the pattern has it: whole for an absolute pattern, else below the worktree; null if it lies outside. */
function pathFor(pattern: string, path: string, worktree: string | null): string | null {
  if (pattern.startsWith('/')) return path.slice(1);
  if (worktree === null) return null;
  if (path === worktree) return '';
  return path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : null;
}

/** True for an absolute path without `.`, `..`, empty parts and NUL. */
function isNormal(path: string): boolean {
  return path.startsWith('/') && !path.includes('\0') && normalPath(path) === path;
}

/** Removes `.`, `..` and empty parts. */
function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** One form of all spellings that a file system may take for the same name. */
function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** True if a path lies in a directory, or is it. */
export function isWithin(directory: string | null, path: string | null): boolean {
  if (directory === null || path === null || !isNormal(path)) return false;
  return path === directory || path.startsWith(`${directory}/`);
}
