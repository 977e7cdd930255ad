import { closeSync, openSync, writeSync } from 'node:fs';

const lineBytes = 200;

/** Writes lines of 200 bytes like a provider's, up to about the requested size, and returns their number. */
export function writeOutputFile(path: string, bytes: number): number {
  const count = Math.floor(bytes / lineBytes);
  const perWrite = 5_000;
  const file = openSync(path, 'w');
  for (let first = 0; first < count; first += perWrite) {
    const lines = Array.from({ length: Math.min(perWrite, count - first) }, (_, index) => outputLine(first + index));
    writeSync(file, lines.join(''));
  }
  closeSync(file);
  return count;
}

/** One assistant message of exactly 200 bytes, newline included. */
function outputLine(number: number): string {
  const head = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"line ${number} `;
  const tail = '"}]},"session_id":"0b7e4c1e-6f0c-4f0e-9a52-0d6b3f1c2a77"}\n';
  return head + 'x'.repeat(lineBytes - head.length - tail.length) + tail;
}
