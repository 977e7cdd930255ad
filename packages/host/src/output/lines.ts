import { hostLimits } from '../host-limit.ts';
import { completeUtf8Length } from './utf8.ts';

/** A line without its terminator. An oversized one is cut. */
export type Line = { text: string; oversized: boolean };

/** The start of an unterminated line. */
export type LineCarry = {
  bytes: Uint8Array;
  /** True if the line exceeds the limit, and `bytes` is only a part of it. */
  oversized: boolean;
  /** True for the file's first line, which may have a byte order mark. */
  first: boolean;
};

export type LineSplitter = {
  /** Adds bytes, and returns the lines they complete. */
  push(bytes: Uint8Array): Line[];
  /** Returns an unterminated last line, and resets. */
  end(): Line[];
};

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = '\uFEFF';

/**
 * Splits raw bytes into lines, in pieces of any size: at `\n`, dropping a preceding `\r` and a byte order mark at the
 * start. Invalid UTF-8 becomes U+FFFD. Never holds more than one line's limit.
 */
export function createLineSplitter(options: { maxLineBytes: number; carry?: LineCarry }): LineSplitter {
  const { maxLineBytes } = options;
  let held: Buffer = Buffer.alloc(0);
  let heldBytes = 0;
  let oversized = false;
  let first = options.carry?.first ?? true;

  /** Keeps the start of a line: up to the limit, then only the shown part of an oversized one. */
  const hold = (bytes: Buffer) => {
    if (bytes.length === 0) return;
    oversized ||= heldBytes + bytes.length > maxLineBytes;
    if (oversized) heldBytes = Math.min(heldBytes, hostLimits.oversizedTextBytes);
    const room = oversized ? hostLimits.oversizedTextBytes - heldBytes : bytes.length;
    const kept = bytes.subarray(0, room);
    const wanted = heldBytes + kept.length;
    if (wanted > held.length || (oversized && held.length > hostLimits.oversizedTextBytes)) {
      const roomy = oversized
        ? hostLimits.oversizedTextBytes
        : Math.min(maxLineBytes, Math.max(wanted, held.length * 2));
      const grown = Buffer.allocUnsafe(Math.max(roomy, wanted));
      held.copy(grown, 0, 0, heldBytes);
      held = grown;
    }
    kept.copy(held, heldBytes);
    heldBytes = wanted;
  };

  const finish = (bytes: Buffer, start: number, end: number): Line => {
    const long = oversized || end - start > maxLineBytes;
    const shown = long ? Math.min(end, start + hostLimits.oversizedTextBytes) : end;
    let stop = shown;
    if (long) stop = start + completeUtf8Length(bytes.subarray(start, shown));
    else if (stop > start && bytes[stop - 1] === carriageReturn) stop -= 1;
    let text = bytes.toString('utf8', start, stop);
    if (first) {
      first = false;
      if (text.startsWith(byteOrderMark)) text = text.slice(1);
    }
    return { text, oversized: long };
  };

  const finishHeld = (): Line => {
    const line = finish(held, 0, heldBytes);
    held = Buffer.alloc(0);
    heldBytes = 0;
    oversized = false;
    return line;
  };

  if (options.carry !== undefined) {
    hold(asBuffer(options.carry.bytes));
    oversized ||= options.carry.oversized;
  }

  return {
    push(bytes) {
      const buffer = asBuffer(bytes);
      const lines: Line[] = [];
      let start = 0;
      for (let at = buffer.indexOf(newline); at !== -1; at = buffer.indexOf(newline, start)) {
        if (heldBytes === 0 && !oversized) {
          lines.push(finish(buffer, start, at));
        } else {
          hold(buffer.subarray(start, at));
          lines.push(finishHeld());
        }
        start = at + 1;
      }
      hold(buffer.subarray(start));
      return lines;
    },
    end() {
      const lines = heldBytes > 0 || oversized ? [finishHeld()] : [];
      first = true;
      return lines;
    },
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
