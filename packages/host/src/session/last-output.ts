import { hasErrno } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { sessionFile } from './session-files.ts';

/** How much of a stream's end is read to explain an exit. */
const lastBytes = 8 * 1024;

/** The last output of a session's command on a stream; empty if there is none, or none that recent. */
export async function lastOutput(dir: string, stream: 'out' | 'err', withinMs = Infinity): Promise<string> {
  try {
    await using file = await open(sessionFile(dir, stream), constants.O_RDONLY | constants.O_NOFOLLOW);
    const { size, mtimeMs } = await file.stat();
    if (Date.now() - mtimeMs > withinMs) return '';
    const length = Math.min(size, lastBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'EISDIR')) return '';
    throw error;
  }
}
