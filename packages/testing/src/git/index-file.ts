import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';

const headerBytes = 12;
/** Ten numbers about the file, its id and the flags; the path follows. */
const entryBytes = 62;
const checksumBytes = 20;

/**
 * The index of a copied repository: it contains file times and inodes, which copies do not share. Does what
 * `git update-index --refresh` does, without a process. Knows version 2, without extended flags.
 */
export function refreshedIndex(index: Buffer, directory: string): Buffer {
  const refreshed = Buffer.from(index);
  if (refreshed.readUInt32BE(4) !== 2) throw new Error('this is not an index of version 2');
  let at = headerBytes;
  for (let left = refreshed.readUInt32BE(8); left > 0; left -= 1) {
    const end = refreshed.indexOf(0, at + entryBytes);
    writeTimes(refreshed, at, join(directory, refreshed.toString('utf8', at + entryBytes, end)));
    // One to eight zeros end an entry.
    at += Math.ceil((end + 1 - at) / 8) * 8;
  }
  const content = refreshed.subarray(0, -checksumBytes);
  createHash('sha1').update(content).digest().copy(refreshed, content.length);
  return refreshed;
}

function writeTimes(index: Buffer, at: number, path: string): void {
  const stat = lstatSync(path, { bigint: true });
  const low = (value: bigint) => Number(BigInt.asUintN(32, value));
  const numbers = [
    low(stat.ctimeNs / 1_000_000_000n),
    low(stat.ctimeNs % 1_000_000_000n),
    low(stat.mtimeNs / 1_000_000_000n),
    low(stat.mtimeNs % 1_000_000_000n),
    low(stat.dev),
    low(stat.ino),
  ];
  for (const [place, value] of numbers.entries()) index.writeUInt32BE(value, at + place * 4);
}
