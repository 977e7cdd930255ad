import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasErrno } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';

/**
 * Reads one of git's small files; null if it is missing or not a plain file. Agents can write these files: does not
 * follow symbolic links, block on pipes, or read huge files.
 */
export async function readPointer(path: string, maxBytes: number = gitLimits.pointerBytes): Promise<string | null> {
  const bytes = await readPlainFile(path, maxBytes);
  return bytes === null ? null : bytes.toString('utf8').replace(/\r?\n$/, '');
}

/** The same for a binary file. */
export async function readPlainFile(path: string, maxBytes: number): Promise<Buffer | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR')) return null;
    throw error;
  }
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > maxBytes) return null;
    return await file.readFile();
  } finally {
    await file.close();
  }
}
