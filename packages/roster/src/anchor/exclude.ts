import { hasErrno } from '@pawl/schema/error';
import { appendFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rosterLimits } from '../roster-limit.ts';

/** What keeps anchors out of commits. */
export const anchorPattern = '/.pawl/session-context*';

/** Keeps anchors out of commits; false when that has to be done by hand. */
export function keepAnchorsOut(root: string): boolean {
  return keepOut(root, anchorPattern);
}

/**
 * Adds one line to the repository's own `info/exclude`, which is never committed. False when that has to be done by hand,
 * because it is no plain file in a plain repository.
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

/** The text of an exclude file with a line for this pattern at its end, unless it has one. */
export function withPattern(text: string, pattern: string): string {
  if (text.split('\n').some((line) => line.trimEnd() === pattern)) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`;
}

/** The same text without the lines for these patterns. */
export function withoutPatterns(text: string, patterns: readonly string[]): string {
  return text
    .split('\n')
    .filter((line) => !patterns.includes(line.trimEnd()))
    .join('\n');
}

function isRepository(root: string): boolean {
  return lstatSync(join(root, '.git'), { throwIfNoEntry: false }) !== undefined;
}
