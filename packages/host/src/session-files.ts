import { constants } from 'node:fs';
import { appendFile, chmod, lstat, mkdir, open, rename, writeFile } from 'node:fs/promises';
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
  | 'exit.new'
  | 'exit';

/** The path of one file of a session. */
export function sessionFile(dir: string, name: SessionFile): string {
  return join(dir, name);
}

/** True when anything at all has this name. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/**
 * Reads a small file that may be hostile: at most `maxBytes`, never through a symlink, never waiting on a FIFO.
 * Null when there is no such regular file, or when it is larger.
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR', 'EACCES')) return null;
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > maxBytes) return null;
    const buffer = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(buffer, 0, maxBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes a file so that it is there whole or not at all. */
async function writeWhole(dir: string, name: SessionFile, content: string): Promise<void> {
  const temporary = `${sessionFile(dir, name)}.${process.pid}.tmp`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, sessionFile(dir, name));
}

/** Makes the session directory, or takes the one that is there when it is really ours. */
async function makePrivateDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const stat = await lstat(dir);
  const ours = stat.isDirectory() && stat.uid === process.getuid?.();
  if (!ours) {
    throw new PawlError('host_failed', `${dir} is not a directory that belongs to you`, {
      hint: 'Move it out of the way, or correct its owner, and start again.',
      details: { dir },
    });
  }
  if ((stat.mode & 0o077) !== 0) await chmod(dir, 0o700);
}

/** Creates everything that the shim expects to find. Doing it again before a shim has claimed the directory is harmless. */
export async function prepareSession(dir: string, prompt: string): Promise<void> {
  await makePrivateDirectory(dir);
  await Promise.all([
    writeWhole(dir, 'shim.sh', shimScript),
    writeWhole(dir, 'prompt', prompt),
    writeFile(sessionFile(dir, 'exit.new'), '   \n', { mode: 0o600, flag: 'a' }),
    appendFile(sessionFile(dir, 'out'), '', { mode: 0o600 }),
    appendFile(sessionFile(dir, 'err'), '', { mode: 0o600 }),
    appendFile(sessionFile(dir, 'child'), '', { mode: 0o600 }),
  ]);
}
