import { hasErrno, PawlError } from '@pawl/schema/error';
import { randomUUID } from 'node:crypto';
import { constants, fchmodSync, lstatSync, mkdirSync } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Creates a directory for its owner only. Refuses an existing one that others can enter. */
export function openPrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const problem = problemWith(lstatSync(path), 'directory');
  if (problem === null) return;
  throw new PawlError('forbidden', `${path} ${problem}.`, {
    hint: `If it was not exposed: chmod 700 '${path}'. Otherwise rotate the keys in it.`,
  });
}

/** Why a path is not private to this user, or null. */
export async function problemAt(path: string, kind: 'directory' | 'file'): Promise<string | null> {
  try {
    return problemWith(await lstat(path), kind);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return 'is not there';
    throw error;
  }
}

function problemWith(
  stat: { mode: number; uid: number; isDirectory(): boolean; isFile(): boolean },
  kind: 'directory' | 'file',
): string | null {
  if (kind === 'directory' ? !stat.isDirectory() : !stat.isFile()) return `is not a ${kind}`;
  if (stat.uid !== process.getuid?.()) return 'belongs to another user';
  return (stat.mode & 0o077) === 0 ? null : 'can be read by others';
}

/** Writes a file for its owner only, atomically; several writers at once do not disturb each other. */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.${randomUUID()}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeDraft(draft, content);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeDraft(draft: string, content: string | Uint8Array): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    // The umask may remove permissions, but never adds any.
    fchmodSync(file.fd, 0o600);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads a regular file of bounded size, never through a symbolic link; null if there is none. */
export async function readBoundedFile(path: string, maxBytes: number): Promise<string | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES')) return null;
    throw error;
  }
  try {
    const stat = await file.stat();
    return stat.isFile() && stat.size <= maxBytes ? await file.readFile('utf8') : null;
  } finally {
    await file.close();
  }
}

/** Makes renames into a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
