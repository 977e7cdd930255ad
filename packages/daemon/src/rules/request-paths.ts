import type { RulePath } from '@pawl/schema/rule';
import { hasErrno } from '@pawl/schema/error';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

/** Links followed before a path counts as a loop, as in the kernel. */
const longestChain = 40;

/** Resolves the paths of a request, relative to its directory, through all symbolic links. */
export function resolvePaths(cwd: string, given: readonly string[]): Promise<RulePath[]> {
  return Promise.all(
    given.map(async (path) => {
      const whole = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
      return { given: whole, real: await realPath(whole.startsWith('/') ? whole : `${cwd}/${whole}`) };
    }),
  );
}

/**
 * The place that opening or creating a path would reach: `..` is taken after a link is followed, and a link to nothing
 * counts as its target, which a write would create. Null if that cannot be known.
 */
export async function realPath(path: string, links = 0): Promise<string | null> {
  if (path.includes('\0') || links > longestChain) return null;
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) return null;
  }
  const name = basename(path);
  // Without the file, only its directory can be resolved, so its own name must be a plain one.
  if (path === '/' || name === '..' || name === '.' || path.endsWith('/')) return null;
  const parent = await realPath(path.slice(0, path.length - name.length - 1) || '/', links + 1);
  if (parent === null) return null;
  const place = join(parent, name);
  try {
    if (!(await lstat(place)).isSymbolicLink()) return place;
    const target = await readlink(place);
    return await realPath(target.startsWith('/') ? target : `${parent}/${target}`, links + 1);
  } catch (error) {
    return hasErrno(error, 'ENOENT') ? place : null;
  }
}
