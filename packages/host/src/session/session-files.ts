import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { shimScript } from './shim.ts';

/** The files of a session directory. */
export type SessionFile =
  | 'shim.sh'
  | 'prompt'
  | 'in'
  | 'ctl'
  | 'fed'
  | 'closed'
  | 'out'
  | 'err'
  | 'pid'
  | 'child'
  | 'group'
  | 'exit.new'
  | 'exit';

/** The path of one file of a session. */
export function sessionFile(dir: string, name: SessionFile): string {
  return join(dir, name);
}

/** True when anything at all has this name. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // What a session has done to its own directory is its affair; there is no such file for us then.
    if (hasErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

/**
 * Reads a small file that may be hostile: at most `maxBytes`, never through a symlink, never waiting on a FIFO.
 * Null when there is no such regular file, or when it is larger.
 */
export function readSmallFile(path: string, maxBytes: number): string | null {
  let descriptor;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR', 'EACCES')) return null;
    throw error;
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > maxBytes) return null;
    // The kernel's own files have no size until they are read.
    const buffer = Buffer.allocUnsafe(stat.size === 0 ? maxBytes : stat.size);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a file so that it is there whole or not at all. */
function writeWhole(dir: string, name: SessionFile, content: string): void {
  const temporary = `${sessionFile(dir, name)}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, sessionFile(dir, name));
}

/** Makes the session directory, or takes the one that is there when it is really ours. */
function makePrivateDirectory(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  const ours = stat.isDirectory() && stat.uid === process.getuid?.();
  if (!ours) {
    throw new PawlError('host_failed', `${dir} is not a directory that belongs to you`, {
      hint: 'Move it out of the way, or correct its owner, and start again.',
      details: { dir },
    });
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(dir, 0o700);
}

/**
 * Creates everything that the shim expects to find, and returns the name of the file that this shim shall record itself
 * in. Doing it again before a shim has claimed the directory is harmless. The files are few and small, and writing them
 * directly takes a tenth of the time of as many trips through the thread pool.
 */
export function prepareSession(dir: string, { prompt, group }: { prompt: string; group: string | null }): string {
  const record = `record.${randomUUID()}`;
  makePrivateDirectory(dir);
  writeWhole(dir, 'shim.sh', shimScript);
  writeWhole(dir, 'prompt', prompt);
  writeWhole(dir, 'group', `${group ?? ''}\n`);
  appendFileSync(sessionFile(dir, 'exit.new'), '   \n', { mode: 0o600 });
  for (const name of ['out', 'err', 'child'] as const) appendFileSync(sessionFile(dir, name), '', { mode: 0o600 });
  writeFileSync(join(dir, record), '', { mode: 0o600 });
  return record;
}
