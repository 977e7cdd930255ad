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
import { limits } from '@pawl/schema/limit';
import { hostLimits } from '../host-limit.ts';
import { maskWindow } from './mask-window.ts';
import { createSecretMask } from './secret-mask.ts';
import type { MonotonicClock } from '../wait.ts';
import { monotonicClock } from '../wait.ts';
import { completeUtf8Length } from './utf8.ts';

const readAsync = promisify(readCallback);

/** How a file was changed other than by appending. */
export type TailDamage = 'truncated' | 'replaced';

export type TailRead = {
  /** Where `bytes` begin in the file. */
  offset: number;
  /** Empty if there is nothing to return yet. */
  bytes: Uint8Array;
  /** Set once, with empty bytes, when the file was damaged; the next read starts at the new file's beginning. */
  damaged: TailDamage | null;
  /** True if more can be read at once. */
  more: boolean;
  /** When an unfinished line is due without further output; null if none waits. */
  dueInMs: number | null;
};

export type Tail = {
  readonly path: string;
  /** The offset of the next read. */
  readonly offset: number;
  /** Returns the next bytes, up to the last newline within `maxBytes`. With `final`, holds nothing back. */
  read(maxBytes: number, options?: { final?: boolean }): Promise<TailRead>;
  close(): void;
};

export type TailOptions = {
  path: string;
  offset: number;
  now?: MonotonicClock;
  partialLineMs?: number;
  lineBytes?: number;
  /** Secrets to overwrite in the file, in place, before their bytes are returned. */
  secrets?: readonly string[];
};

type OpenFile = { descriptor: number; device: number; inode: number; writable: boolean };

/**
 * Follows one output file by pulling. All reads together equal the file byte for byte. Holds an unfinished line back
 * until it has not changed for a while, exceeds the limit, or the process has ended (`final`).
 * Masks secrets in the file before returning their bytes, so that after a crash the next tail finds them again, or
 * finds them masked. The writer appends, so overwriting earlier bytes does not affect it. If the first bytes of a
 * secret were returned because its line stood still, fewer than `hostLimits.secretBytes` of them remain.
 */
export function openTail(options: TailOptions): Tail {
  const { path, now = monotonicClock, partialLineMs = limits.partialLineMs, lineBytes = limits.lineBytes } = options;
  let offset = options.offset;
  const mask = createSecretMask(options.secrets ?? []);
  let file: OpenFile | null = null;
  let waiting: { size: number; sinceMs: number } | null = null;
  let reading = false;

  const nothing = (damaged: TailDamage | null = null): TailRead => {
    return { offset, bytes: new Uint8Array(0), damaged, more: damaged !== null, dueInMs: null };
  };
  const close = () => {
    if (file !== null) closeSync(file.descriptor);
    file = null;
    waiting = null;
  };
  const beginAnew = (damaged: TailDamage): TailRead => {
    offset = 0;
    waiting = null;
    return nothing(damaged);
  };

  /** How much of the unfinished line in `bytes` to return now. */
  const takePartial = (bytes: Buffer, maxBytes: number): { length: number; dueInMs: number | null } => {
    const length = completeUtf8Length(bytes);
    if (bytes.length >= Math.min(maxBytes, lineBytes)) return { length: length || bytes.length, dueInMs: null };
    const size = offset + bytes.length;
    if (waiting?.size !== size) waiting = { size, sinceMs: now() };
    const dueInMs = Math.max(0, waiting.sinceMs + partialLineMs - now());
    // An unfinished character alone waits until it is complete or the process ends.
    if (dueInMs > 0) return { length: 0, dueInMs: length === 0 ? null : dueInMs };
    return { length, dueInMs: null };
  };

  const readNext = async (maxBytes: number, final: boolean): Promise<TailRead> => {
    file ??= openRegularFile(path, mask !== null);
    if (file === null) return nothing();
    const { descriptor, device, inode } = file;
    const size = fstatSync(descriptor).size;
    const named = statRegularFile(path);
    const replaced = named !== null && (named.dev !== device || named.ino !== inode);
    if (size < offset) return beginAnew('truncated');
    if (size === offset && replaced) {
      close();
      return beginAnew('replaced');
    }
    const wanted = Math.min(maxBytes, size - offset);
    if (wanted === 0) return nothing();
    // Also read as much before and after as a split secret can extend.
    const around = mask?.reachBytes ?? 0;
    const before = Math.min(around, offset);
    const window = await readAt(descriptor, before + Math.min(wanted + around, size - offset), offset - before);
    const bytes = window.subarray(before, before + wanted);
    const whole = bytes.lastIndexOf(0x0a) + 1;
    const atEnd = offset + bytes.length >= size;
    const last = final || replaced;
    let taken = { length: whole, dueInMs: null as number | null };
    if (last && atEnd) taken.length = bytes.length;
    else if (whole === 0) taken = takePartial(bytes, maxBytes);
    if (mask !== null && taken.length > 0) {
      const reachesEnd = offset - before + window.length >= size;
      const cutForSize = bytes.length >= Math.min(maxBytes, lineBytes);
      const { length, place } = maskWindow(
        mask,
        { bytes: window, before, reachesEnd },
        { length: taken.length, last, cutForSize },
      );
      taken.length = length;
      if (place !== null) overwrite(file, window.subarray(place.start, place.end), offset - before + place.start);
    }
    if (taken.length > 0) waiting = null;
    const result = { offset, bytes: bytes.subarray(0, taken.length), damaged: null, dueInMs: taken.dueInMs };
    offset += taken.length;
    return { ...result, more: taken.length > 0 && offset < size };
  };

  return {
    path,
    get offset() {
      return offset;
    },
    async read(maxBytes, { final = false } = {}) {
      if (reading) throw new Error(`two reads of ${path} at once`);
      reading = true;
      try {
        return await readNext(maxBytes, final);
      } finally {
        reading = false;
      }
    },
    close,
  };
}

/** The regular file at the path now, or null. */
function statRegularFile(path: string): Stats | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : null;
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
}

function openRegularFile(path: string, writable: boolean): OpenFile | null {
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
function overwrite({ descriptor, writable }: OpenFile, bytes: Buffer, position: number): void {
  if (!writable || fstatSync(descriptor).size < position + bytes.length) return;
  for (let done = 0; done < bytes.length;)
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done);
}

/** Reads up to `length` bytes; fewer if the file shrank meanwhile. */
async function readAt(descriptor: number, length: number, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const count =
    length <= hostLimits.directReadBytes
      ? readSync(descriptor, buffer, 0, length, position)
      : (await readAsync(descriptor, buffer, 0, length, position)).bytesRead;
  return buffer.subarray(0, count);
}
