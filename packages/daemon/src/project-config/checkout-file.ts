import { hasErrno, PawlError } from '@pawl/schema/error';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Reads a small untrusted file of the person's checkout; null if there is none. Refuses anything but a regular file in
 * real directories: follows no link, and never blocks on a pipe.
 */
export async function readCheckoutFile(root: string, path: string, maxBytes: number): Promise<Buffer | null> {
  const place = join(root, path);
  const refuse = (what: string) =>
    new PawlError('invalid_input', `${place} ${what}.`, { hint: 'Put a plain file there, or remove it.' });
  try {
    for (let directory = dirname(path); directory !== '.'; directory = dirname(directory)) {
      const status = await lstat(join(root, directory));
      if (status.isSymbolicLink()) throw refuse('is behind a link');
    }
    await using file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await file.stat();
    if (!status.isFile()) throw refuse('is not a regular file');
    if (status.size > maxBytes) throw refuse(`has more than ${maxBytes} bytes`);
    const buffer = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > maxBytes) throw refuse(`has more than ${maxBytes} bytes`);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    if (hasErrno(error, 'ELOOP')) throw refuse('is a link');
    throw error;
  }
}
