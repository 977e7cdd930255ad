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
  | 'limits'
  | 'exit.new'
  | 'exit';

export function sessionFile(dir: string, name: SessionFile): string {
  return join(dir, name);
}

/** True if anything has this name. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A session may have changed its own directory; then there is no such file for us.
    if (hasErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

/**
 * Reads a small, possibly hostile file: at most `maxBytes`, never through a symlink, never blocking on a FIFO. Null if
 * there is no such regular file, or it is larger.
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

/** Writes a file atomically. */
export function writeWhole(dir: string, name: SessionFile, content: string): void {
  const temporary = `${sessionFile(dir, name)}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, sessionFile(dir, name));
}

/** Creates the session directory, or accepts an existing one that is ours. */
function makePrivateDirectory(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  const ours = stat.isDirectory() && stat.uid === process.getuid?.();
  if (!ours) {
    throw new PawlError('host_failed', `${dir} is not a directory that belongs to you.`, {
      hint: 'Move it out of the way, or correct its owner, and start again.',
      details: { dir },
    });
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(dir, 0o700);
}

/**
 * Creates the files that the shim expects, and returns the name of the file for this shim's record. Repeatable until a
 * shim has claimed the directory. The files are few and small, and synchronous writes take a tenth of the time of the
 * thread pool.
 */
export function prepareSession(dir: string, { prompt, group }: { prompt: string; group: string | null }): string {
  const record = `record.${randomUUID()}`;
  makePrivateDirectory(dir);
  writeWhole(dir, 'shim.sh', shimScript);
  writeWhole(dir, 'prompt', prompt);
  writeWhole(dir, 'group', `${group ?? ''}\n`);
  appendFileSync(sessionFile(dir, 'exit.new'), '   \n', { mode: 0o600 });
  for (const name of ['out', 'err', 'child', 'limits'] as const)
    appendFileSync(sessionFile(dir, name), '', { mode: 0o600 });
  writeFileSync(join(dir, record), '', { mode: 0o600 });
  return record;
}
