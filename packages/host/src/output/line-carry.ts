import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';
import type { LineCarry } from './lines.ts';

/**
 * The start of the line at `offset`, so that a splitter can continue after a restart. Reads back at most
 * `maxLineBytes`; a line that starts earlier is oversized, and the bytes are its middle. Empty for a missing or
 * replaced file: the tail reports that.
 */
export function rebuildCarry(options: { path: string; offset: number; maxLineBytes: number }): LineCarry {
  const { path, offset, maxLineBytes } = options;
  const from = Math.max(0, offset - maxLineBytes - 1);
  const bytes = readRegion(path, from, offset);
  const lineStart = bytes.lastIndexOf(0x0a) + 1;
  const wholeLine = lineStart > 0 || from === 0;
  return { bytes: bytes.subarray(lineStart), oversized: !wholeLine, first: from + lineStart === 0 };
}

/** Reads a part of a possibly hostile file: never through a symlink, never blocking on a FIFO. */
function readRegion(path: string, from: number, to: number): Buffer {
  let descriptor;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) return Buffer.alloc(0);
    const buffer = Buffer.alloc(to - from);
    let filled = 0;
    for (let count = -1; filled < buffer.length && count !== 0; filled += count) {
      count = readSync(descriptor, buffer, filled, buffer.length - filled, from + filled);
    }
    return buffer.subarray(0, filled);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR')) return Buffer.alloc(0);
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
