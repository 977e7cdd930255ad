import { hasErrno } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { sessionFile } from './session-files.ts';

/** How much of a stream's end tells why a process left. */
const lastBytes = 8 * 1024;

/**
 * The last words that a session's command printed to a stream, as text; empty when there are none, or none so lately.
 */
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
