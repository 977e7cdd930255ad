import { limits } from '@pawl/schema/limit';
import type { ProxyLine } from '@pawl/schema/proxy';
import { proxyLineSchema, proxyRecordName } from '@pawl/schema/proxy';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Reads what the proxy records about a session, from a stored offset. */
export type ProxyRecord = {
  /** The new lines, and where the next read begins. Null: nothing new. */
  read(): { lines: ProxyLine[]; offset: number } | null;
};

const newline = 0x0a;

export function openProxyRecord(directory: string, start: number): ProxyRecord {
  const path = join(directory, proxyRecordName);
  let offset = start;
  return {
    read() {
      const bytes = bytesFrom(path, offset);
      // A line is complete when its newline is there.
      const end = bytes.lastIndexOf(newline) + 1;
      if (end === 0) return null;
      offset += end;
      return { lines: linesIn(bytes.subarray(0, end)), offset };
    },
  };
}

/** The last count of tokens before an offset, or null. */
export function lastCount(directory: string, offset: number): Extract<ProxyLine, { type: 'usage' }> | null {
  if (offset === 0) return null;
  const start = Math.max(0, offset - limits.chunkBytes);
  const bytes = bytesFrom(join(directory, proxyRecordName), start).subarray(0, offset - start);
  return linesIn(bytes).findLast((line) => line.type === 'usage') ?? null;
}

/** Anything that is not a line of the proxy is skipped: an agent may write to this file. */
function linesIn(bytes: Buffer): ProxyLine[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        return text === '' ? [] : [proxyLineSchema.parse(JSON.parse(text))];
      } catch {
        return [];
      }
    });
}

/** Some bytes of a file from an offset; empty if there are none. */
function bytesFrom(path: string, offset: number): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const size = fstatSync(file).size - offset;
    if (size <= 0) return Buffer.alloc(0);
    const bytes = Buffer.alloc(Math.min(size, limits.chunkBytes));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(file);
  }
}
