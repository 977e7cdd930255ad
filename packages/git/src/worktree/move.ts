import type { BigIntStats, Stats } from 'node:fs';
import { cp, lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { setFileTime } from '../snapshot/file-time.ts';

export type Move = {
  /** Null if only an earlier move may have to be finished. */
  from: string | null;
  to: string;
  /** A free name on the file system of `from`, the same on every call. */
  aside: string;
};

/**
 * Moves a directory, by a rename if possible. Across file systems it is first renamed beside its old path, so that the
 * old path is free at once, then copied, and deleted only when the copy is complete. The next call finishes an
 * interrupted one.
 */
export async function moveDirectory({ from, to, aside }: Move): Promise<void> {
  if (!(await isThere(aside))) {
    if (from === null || !(await isThere(from))) return;
    if (await isThere(to)) {
      throw new PawlError('conflict', `Both ${to} and ${from} exist.`, {
        hint: 'An earlier move was interrupted and the old path was used again. Move one of them aside.',
      });
    }
    try {
      return await rename(from, to);
    } catch (error) {
      if (!hasErrno(error, 'EXDEV')) throw error;
    }
    await rename(from, aside);
  }
  if (!(await isThere(to))) await copyWhole(aside, to);
  await rm(aside, { recursive: true, force: true });
}

async function copyWhole(from: string, to: string): Promise<void> {
  const partial = `${to}.partial`;
  await rm(partial, { recursive: true, force: true });
  const filter = async (source: string) => isCopyable(await lstat(source));
  await cp(from, partial, { recursive: true, verbatimSymlinks: true, filter });
  await copyTimes(from, partial);
  await rename(partial, to);
}

/** Copies exact times: `cp` would round them to milliseconds. Directories after their contents. */
async function copyTimes(from: string, to: string): Promise<void> {
  const info = await lstat(from, { bigint: true });
  if (info.isDirectory()) for (const name of await readdir(from)) await copyTimes(join(from, name), join(to, name));
  if (isCopyable(info)) setFileTime(to, info.mtimeNs);
}

/** Pipes and sockets hold no data, and cannot be copied. */
function isCopyable(info: Stats | BigIntStats): boolean {
  return info.isFile() || info.isDirectory() || info.isSymbolicLink();
}

/** True if anything is at this path, even a dangling link. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
