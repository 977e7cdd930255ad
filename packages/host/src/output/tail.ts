import { closeSync, fstatSync } from 'node:fs';
import { limits } from '@pawl/schema/limit';
import { maskWindow } from './mask-window.ts';
import type { SecretMask } from './secret-mask.ts';
import { createSecretMask } from './secret-mask.ts';
import type { OpenFile } from './tail-file.ts';
import { openRegularFile, overwrite, readAt, statRegularFile } from './tail-file.ts';
import type { MonotonicClock } from '../wait.ts';
import { monotonicClock } from '../wait.ts';
import { completeUtf8Length } from './utf8.ts';

/** How a file was changed other than by appending. */
export type TailDamage = 'truncated' | 'replaced';

export type TailRead = {
  /** The offset of `bytes` in the file. */
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

/** The position of a tail. */
type Position = {
  readonly path: string;
  readonly mask: SecretMask | null;
  readonly now: MonotonicClock;
  readonly partialLineMs: number;
  readonly lineBytes: number;
  offset: number;
  file: OpenFile | null;
  /** The size of the file since the unfinished line last grew. */
  waiting: { size: number; sinceMs: number } | null;
};

/**
 * Follows one output file by pulling. All reads together equal the file byte for byte. Holds an unfinished line back
 * until it has not changed for a while, exceeds the limit, or the process has ended (`final`).
 * Masks secrets in the file before returning their bytes, so that after a crash the next tail finds them again, or
 * finds them masked. The writer appends, so overwriting earlier bytes does not affect it. If the first bytes of a
 * secret were returned because its line stood still, fewer than `hostLimits.secretBytes` of them remain.
 */
export function openTail(options: TailOptions): Tail {
  const { path, now = monotonicClock, partialLineMs = limits.partialLineMs, lineBytes = limits.lineBytes } = options;
  const at: Position = {
    path,
    mask: createSecretMask(options.secrets ?? []),
    now,
    partialLineMs,
    lineBytes,
    offset: options.offset,
    file: null,
    waiting: null,
  };
  let reading = false;
  return {
    path,
    get offset() {
      return at.offset;
    },
    async read(maxBytes, { final = false } = {}) {
      if (reading) throw new Error(`two reads of ${path} at once`);
      reading = true;
      try {
        return await readNext(at, maxBytes, final);
      } finally {
        reading = false;
      }
    },
    close: () => close(at),
  };
}

function close(at: Position): void {
  if (at.file !== null) closeSync(at.file.descriptor);
  at.file = null;
  at.waiting = null;
}

async function readNext(at: Position, maxBytes: number, final: boolean): Promise<TailRead> {
  at.file ??= openRegularFile(at.path, at.mask !== null);
  if (at.file === null) return nothing(at);
  const size = fstatSync(at.file.descriptor).size;
  const replaced = isReplaced(at.path, at.file);
  if (size < at.offset) return startOver(at, 'truncated');
  if (size === at.offset && replaced) {
    close(at);
    return startOver(at, 'replaced');
  }
  if (size === at.offset) return nothing(at);
  return readLines(at, at.file, { size, maxBytes, final: final || replaced });
}

function nothing({ offset }: Position, damaged: TailDamage | null = null): TailRead {
  return { offset, bytes: new Uint8Array(0), damaged, more: damaged !== null, dueInMs: null };
}

/** Reports damage; the next read begins with the first byte. */
function startOver(at: Position, damaged: TailDamage): TailRead {
  at.offset = 0;
  at.waiting = null;
  return nothing(at, damaged);
}

function isReplaced(path: string, { device, inode }: OpenFile): boolean {
  const named = statRegularFile(path);
  return named !== null && (named.dev !== device || named.ino !== inode);
}

/** Reads whole lines, or an unfinished one that is due, and masks them in the file first. */
async function readLines(
  at: Position,
  file: OpenFile,
  { size, maxBytes, final }: { size: number; maxBytes: number; final: boolean },
): Promise<TailRead> {
  const { mask, offset } = at;
  const wanted = Math.min(maxBytes, size - offset);
  // Also read as much before and after as a split secret can extend.
  const around = mask?.reachBytes ?? 0;
  const before = Math.min(around, offset);
  const window = await readAt(file, before + Math.min(wanted + around, size - offset), offset - before);
  const bytes = window.subarray(before, before + wanted);
  const taken = chooseLength(at, bytes, { maxBytes, final: final && offset + bytes.length >= size });
  if (mask !== null && taken.length > 0) {
    const reachesEnd = offset - before + window.length >= size;
    const cutForSize = bytes.length >= Math.min(maxBytes, at.lineBytes);
    const { length, place } = maskWindow(
      mask,
      { bytes: window, before, reachesEnd },
      { length: taken.length, last: final, cutForSize },
    );
    taken.length = length;
    if (place !== null) overwrite(file, window.subarray(place.start, place.end), offset - before + place.start);
  }
  if (taken.length > 0) at.waiting = null;
  at.offset += taken.length;
  return {
    offset,
    bytes: bytes.subarray(0, taken.length),
    damaged: null,
    more: taken.length > 0 && at.offset < size,
    dueInMs: taken.dueInMs,
  };
}

type Taken = { length: number; dueInMs: number | null };

/** How much of what was read to return: all at the end, else whole lines, else an unfinished one that is due. */
function chooseLength(at: Position, bytes: Buffer, { maxBytes, final }: { maxBytes: number; final: boolean }): Taken {
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (final) return { length: bytes.length, dueInMs: null };
  return whole > 0 ? { length: whole, dueInMs: null } : takePartial(at, bytes, maxBytes);
}

/** How much of the unfinished line in `bytes` to return now. */
function takePartial(at: Position, bytes: Buffer, maxBytes: number): Taken {
  const length = completeUtf8Length(bytes);
  if (bytes.length >= Math.min(maxBytes, at.lineBytes)) return { length: length || bytes.length, dueInMs: null };
  const size = at.offset + bytes.length;
  if (at.waiting?.size !== size) at.waiting = { size, sinceMs: at.now() };
  const dueInMs = Math.max(0, at.waiting.sinceMs + at.partialLineMs - at.now());
  // An unfinished character alone waits until it is complete or the process ends.
  if (dueInMs > 0) return { length: 0, dueInMs: length === 0 ? null : dueInMs };
  return { length, dueInMs: null };
}
