import { hasErrno } from '@pawl/schema/error';
import { appendFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rosterLimits } from '../roster-limit.ts';

/** The pattern that keeps anchors out of commits. */
export const anchorPattern = '/.pawl/session-context*';

/** Keeps anchors out of commits; false if that must be done by hand. */
export function keepAnchorsOut(root: string): boolean {
  return keepOut(root, anchorPattern);
}

/**
 * Adds one line to the repository's `info/exclude`, which is never committed. False if that must be done by hand,
 * because it is not a plain file in a plain repository.
 */
export function keepOut(root: string, pattern: string): boolean {
  const path = join(root, '.git', 'info', 'exclude');
  try {
    if (!lstatSync(join(root, '.git')).isDirectory()) return false;
    if (lstatSync(join(root, '.git', 'info'), { throwIfNoEntry: false })?.isDirectory() === false) return false;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && (!found.isFile() || found.size > rosterLimits.excludeBytes)) return false;
    const text = found === undefined ? '' : readFileSync(path, 'utf8');
    const after = withPattern(text, pattern);
    if (after === text) return true;
    mkdirSync(join(root, '.git', 'info'), { recursive: true });
    appendFileSync(path, after.slice(text.length));
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return !isRepository(root);
    if (hasErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Appends a pattern to the text of an exclude file, unless it is there. */
export function withPattern(text: string, pattern: string): string {
  if (text.split('\n').some((line) => line.trimEnd() === pattern)) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`;
}

/** Removes patterns from the text. */
export function withoutPatterns(text: string, patterns: readonly string[]): string {
  return text
    .split('\n')
    .filter((line) => !patterns.includes(line.trimEnd()))
    .join('\n');
}

function isRepository(root: string): boolean {
  return lstatSync(join(root, '.git'), { throwIfNoEntry: false }) !== undefined;
}
