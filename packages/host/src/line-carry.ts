import { open } from 'node:fs/promises';
import type { LineCarry } from './lines.ts';

/**
 * The beginning of the line that `offset` stands in, so that a splitter can go on after a restart as if there had been
 * none. Reads back at most `maxLineBytes`; a line that begins before that is oversized, and the bytes are its middle.
 */
export async function rebuildCarry(options: {
  path: string;
  offset: number;
  maxLineBytes: number;
}): Promise<LineCarry> {
  const { path, offset, maxLineBytes } = options;
  const from = Math.max(0, offset - maxLineBytes - 1);
  const buffer = Buffer.alloc(offset - from);
  const file = await open(path, 'r');
  try {
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    const bytes = buffer.subarray(0, filled);
    const lineStart = bytes.lastIndexOf(0x0a) + 1;
    const wholeLine = lineStart > 0 || from === 0;
    return { bytes: bytes.subarray(lineStart), oversized: !wholeLine, first: from + lineStart === 0 };
  } finally {
    await file.close();
  }
}
