import type { Stats } from 'node:fs';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  read as readCallback,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { hasErrno } from '@pawl/schema/error';
import { hostLimits } from '../host-limit.ts';

const readAsync = promisify(readCallback);

export type OpenFile = { descriptor: number; device: number; inode: number; writable: boolean };

/** The regular file at the path now, or null. */
export function statRegularFile(path: string): Stats | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : null;
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
}

/** Opens a file that a session may have replaced: never through a symlink, never blocking. Null if there is none. */
export function openRegularFile(path: string, writable: boolean): OpenFile | null {
  const access = writable ? constants.O_RDWR : constants.O_RDONLY;
  let descriptor;
  try {
    descriptor = openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // Write permission was revoked: returned bytes are still masked.
    if (writable && hasErrno(error, 'EACCES', 'EROFS', 'EPERM', 'ETXTBSY')) return openRegularFile(path, false);
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR')) return null;
    throw error;
  }
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, device: stat.dev, inode: stat.ino, writable };
  closeSync(descriptor);
  return null;
}

/** Overwrites bytes in the file with masked ones. Skips a file that shrank meanwhile: its damage shows soon. */
export function overwrite({ descriptor, writable }: OpenFile, bytes: Buffer, position: number): void {
  if (!writable || fstatSync(descriptor).size < position + bytes.length) return;
  for (let done = 0; done < bytes.length;)
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
}

/** Reads up to `length` bytes; fewer if the file shrank meanwhile. */
export async function readAt({ descriptor }: OpenFile, length: number, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const count =
    length <= hostLimits.directReadBytes
      ? readSync(descriptor, buffer, 0, length, position)
      : (await readAsync(descriptor, buffer, 0, length, position)).bytesRead;
  return buffer.subarray(0, count);
}
