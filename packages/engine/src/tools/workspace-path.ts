import { realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';

/** A place in the workspace: the canonical path below the root, free of symbolic links when it was resolved. */
export type WorkspacePath = { root: string; segments: string[]; absolute: string; shown: string };

/**
 * Resolves a path that a model wrote. Follows symbolic links now, so that a link out of the workspace is refused and a
 * link within it works; files are later opened without following any.
 */
export async function resolveInside(root: string, written: string): Promise<WorkspacePath> {
  if (written.includes('\0')) throw refusal(written, 'contains a zero byte');
  const absolute = await canonical(resolve(root, written));
  if (!isBelow(root, absolute)) throw refusal(written, 'is outside of the workspace');
  const shown = relative(root, absolute);
  return { root, segments: shown === '' ? [] : shown.split(sep), absolute, shown: shown === '' ? '.' : shown };
}

/** Refuses what belongs to git: a changed `.git` would point to another repository or run its hooks. */
export function refuseGit({ segments, shown }: WorkspacePath): void {
  if (segments.some((segment) => segment.toLowerCase() === '.git')) throw refusal(shown, 'belongs to git');
}

/** The real path of the longest part that exists, with the rest as it is. */
async function canonical(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT') || dirname(path) === path) throw error;
    const parent = await canonical(dirname(path));
    return join(parent, path.slice(dirname(path).length).replace(/^[/\\]+/, ''));
  }
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function refusal(path: string, why: string): PawlError {
  return new PawlError('forbidden', `The path ${JSON.stringify(path.slice(0, 300))} ${why}.`, {
    hint: 'Use a path inside the workspace, relative to its root.',
  });
}
