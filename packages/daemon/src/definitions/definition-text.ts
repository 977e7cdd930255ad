import { definitionLimits } from '@pawl/core/definitions/definition-limit';
import { hasErrno, isPassing, messageOf } from '@pawl/schema/error';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { sep } from 'node:path';

/** A file as it is now: `same` as the known one, its bytes, why it cannot be read, or null if it is gone. */
export type FoundText =
  | { state: 'same' }
  | { state: 'read'; bytes: Uint8Array; fingerprint: string; changedMs: number }
  | { state: 'refused'; reason: string }
  | null;

/**
 * Reads an untrusted file. Opens only a regular file of bounded size, never blocks on a writer, and with a boundary
 * follows no link out of it.
 */
export async function readDefinitionText(path: string, within: string | null, known?: string): Promise<FoundText> {
  try {
    let place = path;
    let status = await lstat(path, { bigint: true });
    if (status.isSymbolicLink()) {
      place = await realpath(path);
      if (!isWithin(within, place)) return { state: 'refused', reason: 'is a link out of the repository' };
      status = await lstat(place, { bigint: true });
    }
    if (fingerprintOf(status) === known) return { state: 'same' };
    if (!status.isFile()) return { state: 'refused', reason: 'is not a regular file' };
    return await readRegularFile(place);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    if (isPassing(error)) throw error;
    return { state: 'refused', reason: `cannot be read: ${messageOf(error)}` };
  }
}

/** True if a path without links is inside the boundary, or there is none. */
export function isWithin(within: string | null, place: string): boolean {
  return within === null || place.startsWith(within + sep);
}

async function readRegularFile(place: string): Promise<FoundText> {
  await using file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const status = await file.stat({ bigint: true });
  if (!status.isFile()) return { state: 'refused', reason: 'is not a regular file' };
  const { fileBytes } = definitionLimits;
  const tooLarge: FoundText = { state: 'refused', reason: `has more than ${fileBytes} bytes` };
  if (status.size > fileBytes) return tooLarge;
  // One byte more than the limit, so that a file that grows is noticed.
  const buffer = Buffer.alloc(fileBytes + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length > fileBytes) break;
  }
  if (length > fileBytes) return tooLarge;
  const changedMs = Number(status.mtimeMs > status.ctimeMs ? status.mtimeMs : status.ctimeMs);
  return {
    state: 'read',
    bytes: Buffer.from(buffer.subarray(0, length)),
    fingerprint: fingerprintOf(status),
    changedMs,
  };
}

function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
