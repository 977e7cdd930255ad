import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { readPointer } from '../repository/pointer-file.ts';
import type { Repository } from '../repository/repository.ts';

/**
 * Git's record of one linked worktree: the directory `<commonDir>/worktrees/<id>`. Read directly, because a git process
 * per lookup would cost more than the rest of the work.
 *   git makes it in this order:  locked → gitdir → <path>/.git → HEAD (zeros) → commondir → HEAD (the branch) → no lock
 *   and a kill can leave it after any of these steps.
 */
export type Registration = {
  id: string;
  adminDir: string;
  /** Null while the record has no path. */
  path: string | null;
  /** The checked-out branch; null if HEAD is detached or missing. */
  branch: string | null;
  /** The commit of a detached HEAD. */
  detachedAt: string | null;
  /** Why it is locked; null if it is not. */
  locked: string | null;
};

/** Git writes this into `locked` during `worktree add`. */
export const initializing = 'initializing';

/** True if `worktree add` ended before HEAD was set: nothing was ever checked out there. */
export function isHalfMade(registration: Registration): boolean {
  return registration.branch === null && registration.detachedAt === null;
}

/** Reads one registration, or null. */
export async function readRegistration(repository: Repository, id: string): Promise<Registration | null> {
  const adminDir = join(repository.commonDir, 'worktrees', id);
  if (!(await isDirectory(adminDir))) return null;
  const [gitdir, head, commondir, locked] = await Promise.all(
    ['gitdir', 'HEAD', 'commondir', 'locked'].map((name) => readPointer(join(adminDir, name))),
  );
  const dotGit = gitdir ? resolve(adminDir, gitdir) : null;
  const ready = commondir !== null && head ? head : '';
  return {
    id,
    adminDir,
    path: dotGit !== null && basename(dotGit) === '.git' ? dirname(dotGit) : null,
    branch: /^ref: refs\/heads\/(.+)$/.exec(ready)?.[1] ?? null,
    detachedAt: /^[0-9a-f]{40,64}$/.test(ready) && !/^0+$/.test(ready) ? ready : null,
    locked: locked ?? null,
  };
}

/** The registration id in a worktree's `.git` file, if it belongs to this repository. */
export async function registrationIdAt(repository: Repository, path: string): Promise<string | null> {
  const pointer = await readPointer(join(path, '.git'));
  const target = /^gitdir: (.+)$/.exec(pointer ?? '')?.[1];
  if (target === undefined) return null;
  const adminDir = resolve(path, target);
  return dirname(adminDir) === join(repository.commonDir, 'worktrees') ? basename(adminDir) : null;
}

/** Finds the registration of exactly this canonical path, whether or not the directory exists. */
export async function findRegistration(repository: Repository, path: string): Promise<Registration | null> {
  // Try the worktree's own pointer first; it is only a guess, since anyone who works there can rewrite it.
  const likely = await registrationIdAt(repository, path);
  const guess = likely === null ? null : await readRegistration(repository, likely);
  if (guess?.path === path) return guess;
  for (const id of await registrationIds(repository)) {
    const registration = await readRegistration(repository, id);
    if (registration?.path === path) return registration;
  }
  return null;
}

/** The paths of all linked worktrees on record. */
export async function registeredPaths(repository: Repository): Promise<Set<string>> {
  const found = await Promise.all((await registrationIds(repository)).map((id) => readRegistration(repository, id)));
  return new Set(found.flatMap((registration) => registration?.path ?? []));
}

async function registrationIds(repository: Repository): Promise<string[]> {
  return readdir(join(repository.commonDir, 'worktrees')).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
}

/** Refuses a path that git's files cannot hold. */
export function checkWorktreePath(path: string): void {
  // oxlint-disable-next-line no-control-regex
  if (isAbsolute(path) && !/[\u0000-\u001f\u007f]/.test(path) && basename(path) !== '.git') return;
  throw new PawlError('invalid_input', `${JSON.stringify(path)} cannot be the path of a worktree.`, {
    hint: 'Use an absolute path without control characters.',
  });
}

/** Resolves all symbolic links above the last part of a path; never follows the last part itself. */
export async function canonicalPath(path: string): Promise<string> {
  checkWorktreePath(path);
  const plain = resolve(path);
  try {
    return join(await realpath(dirname(plain)), basename(plain));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return plain;
    throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}
