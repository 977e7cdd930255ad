import { countJUnit } from '@pawl/core/guard/junit';
import type { TestCount } from '@pawl/schema/change';
import { hasErrno } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { glob, open, realpath } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { checkLimits } from './check-limit.ts';

/** Directories without results that take longest to walk. */
const skipped = ['node_modules', '.git'];

/**
 * Counts the tests in the JUnit files that a step has left below the clone. Files from before the step are not its
 * results: they may be committed. Null: there are none, or too many.
 */
export async function countJUnitFiles(
  tree: string,
  patterns: readonly string[],
  sinceMs: number,
): Promise<TestCount | null> {
  const texts: string[] = [];
  let bytes = 0;
  for (const path of await findFiles(tree, patterns)) {
    const content = await readFresh(path, sinceMs, checkLimits.junitBytes - bytes + 1);
    bytes += content?.length ?? 0;
    if (bytes > checkLimits.junitBytes) return null;
    if (content !== null) texts.push(content.toString('utf8'));
  }
  return texts.length === 0 ? null : countJUnit(texts);
}

/** The files that the patterns match, without those that a symbolic link leads elsewhere. */
async function findFiles(tree: string, patterns: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const root = await realpath(tree);
  let entries = 0;
  const exclude = (path: string) => {
    entries += 1;
    return entries > checkLimits.junitEntries || skipped.includes(basename(path));
  };
  for (const pattern of patterns.filter(isPlain).slice(0, checkLimits.junitPatterns)) {
    for await (const path of glob(pattern, { cwd: root, exclude })) {
      const real = await realpath(join(root, path)).catch(() => null);
      if (real?.startsWith(root + sep) === true) found.add(real);
      if (found.size >= checkLimits.junitFiles) return found;
    }
  }
  return found;
}

/** A path below the root with `*`, `**` and `?` only: other patterns may take forever. */
function isPlain(pattern: string): boolean {
  if (pattern.length > checkLimits.junitPatternCharacters || !/^[\w.@+*?/ -]+$/.test(pattern)) return false;
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) return false;
  return pattern.split('*').length - 1 <= checkLimits.junitPatternStars;
}

/** Reads the start of a regular file that was changed since a time; a change time cannot be forged by the writer. */
async function readFresh(path: string, sinceMs: number, mostBytes: number): Promise<Buffer | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.ctimeMs < sinceMs) return null;
    const length = Math.min(stat.size, mostBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR')) return null;
    throw error;
  }
}
