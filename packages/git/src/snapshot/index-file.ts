import { createHash } from 'node:crypto';
import { PawlError } from '@pawl/schema/error';
import type { Repository } from '../repository/repository.ts';

/**
 * The fields of a file's `lstat` in the index, in order; each is the low 32 bits. The mode, between `ino` and `uid`, is
 * not from the disk but what git tracks.
 */
export const statFields = [
  { name: 'ctimeSeconds', offset: 0 },
  { name: 'ctimeNanoseconds', offset: 4 },
  { name: 'mtimeSeconds', offset: 8 },
  { name: 'mtimeNanoseconds', offset: 12 },
  { name: 'dev', offset: 16 },
  { name: 'ino', offset: 20 },
  { name: 'uid', offset: 28 },
  { name: 'gid', offset: 32 },
  { name: 'size', offset: 36 },
] as const;

const modeOffset = 24;
const idOffset = 40;
const headerBytes = 12;
const hashBytes = { sha1: 20, sha256: 32 } as const;

export type IndexEntry = {
  /** One character per byte. */
  name: string;
  /** A file, a symbolic link (0o120000) or a commit of another repository (0o160000). */
  mode: number;
  offset: number;
};

/** The mode of an entry that is a commit of another repository. */
export const gitlinkMode = 0o160000;

/** Parses an index of version 2 or 3, which git writes when asked for version 2. */
export function readIndexEntries(bytes: Buffer, format: Repository['objectFormat']): IndexEntry[] {
  const version = bytes.length < headerBytes ? 0 : bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) throw unreadable();
  const count = bytes.readUInt32BE(8);
  const end = bytes.length - hashBytes[format];
  const entries: IndexEntry[] = [];
  let offset = headerBytes;
  for (let index = 0; index < count; index += 1) {
    const flagsOffset = offset + idOffset + hashBytes[format];
    if (flagsOffset + 2 > end) throw unreadable();
    const isExtended = (bytes.readUInt16BE(flagsOffset) & 0x4000) !== 0;
    const nameOffset = flagsOffset + (isExtended ? 4 : 2);
    const nameEnd = bytes.indexOf(0, nameOffset);
    if (nameEnd === -1 || nameEnd >= end) throw unreadable();
    entries.push({
      name: bytes.toString('latin1', nameOffset, nameEnd),
      mode: bytes.readUInt32BE(offset + modeOffset),
      offset,
    });
    // One to eight zeros pad an entry to a multiple of eight bytes.
    offset += (nameEnd - offset + 8) & ~7;
  }
  return entries;
}

/** Updates the trailing checksum after the bytes before it changed. */
export function sealIndex(bytes: Buffer, format: Repository['objectFormat']): void {
  const end = bytes.length - hashBytes[format];
  createHash(format).update(bytes.subarray(0, end)).digest().copy(bytes, end);
}

function unreadable(): PawlError {
  return new PawlError('git_failed', 'The index is unreadable.', {
    hint: 'Run `git status` there to see whether git itself can read it.',
  });
}
