import { setImmediate } from 'node:timers/promises';
import { scriptedLimits } from '../limit.ts';
import type { StepPlayer } from '../play.ts';

/** Prints numbered messages as fast as the pipe takes them, in the shortest lines that are messages. */
export const playFlood: StepPlayer<'flood'> = async (play, { lines, bytes }) => {
  const { output, speaker } = play.writer;
  const before = '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"flood ';
  const after = `"}]},"session_id":"${speaker.sessionId}"}\n`;
  let batch = '';
  for (let number = 1; number <= lines; number += 1) {
    const missing = bytes === undefined ? 0 : bytes - before.length - after.length - String(number).length - 1;
    batch += `${before}${number}${missing > 0 ? ` ${'x'.repeat(missing)}` : ''}${after}`;
    if (batch.length >= scriptedLimits.writeBytes || number === lines) {
      await output.write(batch);
      // A file takes everything at once, but the agent must still read its input meanwhile.
      await setImmediate();
      batch = '';
    }
  }
  play.writer.countMessage();
  return undefined;
};

/** Prints what no reader of JSON lines expects, the same bytes for the same seed. */
export const playGarbage: StepPlayer<'garbage'> = async (play, { bytes, seed, line_bytes }) => {
  const random = randomNumbers(seed);
  for (let left = bytes; left > 0;) {
    const piece = garbagePiece(random, Math.min(left, scriptedLimits.writeBytes));
    left -= piece.length;
    if (left === 0) piece[piece.length - 1] = 10;
    await play.writer.output.write(piece);
  }
  for (let left = line_bytes ?? 0; left > 0; left -= scriptedLimits.writeBytes) {
    const line = Buffer.alloc(Math.min(left, scriptedLimits.writeBytes), 'x');
    if (left <= scriptedLimits.writeBytes) line[line.length - 1] = 10;
    await play.writer.output.write(line);
  }
  return undefined;
};

const snippets = [
  '\0\0NUL\0\n',
  Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xe2, 0x82, 10]),
  Buffer.from([0xed, 0xa0, 0x80, 0xf4, 0x90, 0x80, 0x80, 10]),
  '\u001b[2J\u001b[31mred\u001b[0m\r overprint\n',
  '\u001b]0;title\u0007\u001b]8;;http://example.invalid\u0007link\u001b]8;;\u0007\n',
  '\u001b]52;c;Z2FyYmFnZQ==\u0007\u001bP1$r\u001b\\\u009b31m\n',
  '{"type":"result","subtype":"succ\n',
  '{"type":"assistant","message":{"content":[{"type":"text","te',
  '{"__proto__":{"polluted":true},"type":12e999}\r\n',
  '\ufeff{"type":null}\n',
  '\u202egnirts desrever\u202c <script>alert(1)</script>\n',
  `${'['.repeat(200)}\n`,
].map((snippet) => Buffer.from(snippet as string));

/** As many bytes as asked for: each kind of snippet in a shuffled order, with random bytes between them. */
function garbagePiece(random: () => number, bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let filled = 0; filled < bytes;) {
    for (const snippet of shuffled(snippets, random)) {
      const noise = Buffer.from(Array.from({ length: Math.floor(random() * 16) }, () => Math.floor(random() * 256)));
      parts.push(snippet, noise);
      filled += snippet.length + noise.length;
    }
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Numbers from 0 to 1 that depend on the seed alone (a xorshift generator). */
function randomNumbers(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
