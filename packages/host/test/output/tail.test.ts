import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Tail, TailRead } from '../../src/output/tail.ts';
import { openTail } from '../../src/output/tail.ts';
import { useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
let path: string;
let tail: Tail;
let timeMs: number;
const maxBytes = 1024 * 1024;

function reopen(offset: number): Tail {
  tail.close();
  tail = openTail({ path, offset, now: () => timeMs, partialLineMs: 400 });
  return tail;
}

beforeEach(() => {
  path = join(workspace.root, 'out');
  timeMs = 1_000;
  tail = openTail({ path, offset: 0, now: () => timeMs, partialLineMs: 400 });
});
afterEach(() => tail.close());

async function readText(options?: { final?: boolean }): Promise<string> {
  return Buffer.from((await tail.read(maxBytes, options)).bytes).toString();
}

/** Reads until nothing more comes. */
async function drain(options: { final?: boolean } = {}, limit = maxBytes): Promise<TailRead[]> {
  const reads: TailRead[] = [];
  for (;;) {
    const read = await tail.read(limit, options);
    if (read.bytes.length === 0 && read.damaged === null) return reads;
    reads.push(read);
  }
}

test('a missing file is empty', async () => {
  expect(await tail.read(maxBytes)).toEqual({
    offset: 0,
    bytes: new Uint8Array(0),
    damaged: null,
    more: false,
    dueInMs: null,
  });
  writeFileSync(path, 'a\n');
  expect(await readText()).toBe('a\n');
});

describe('an unfinished line', () => {
  test('is held back until its newline comes', async () => {
    writeFileSync(path, 'one\ntw');
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 0, more: true });
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 4, more: false, dueInMs: 400 });
    appendFileSync(path, 'o\n');
    expect(await readText()).toBe('two\n');
    expect(tail.offset).toBe(8);
  });

  test('is given once it is unchanged for a while, and every byte restarts the wait', async () => {
    writeFileSync(path, 'par');
    expect(await readText()).toBe('');
    timeMs += 399;
    expect(await tail.read(maxBytes)).toMatchObject({ dueInMs: 1 });
    appendFileSync(path, 't');
    expect(await tail.read(maxBytes)).toMatchObject({ dueInMs: 400 });
    timeMs += 400;
    expect(await readText()).toBe('part');
    appendFileSync(path, 'ial\n');
    expect(await readText()).toBe('ial\n');
  });

  test('is cut between characters, and the rest of a character waits for its end', async () => {
    const euro = Buffer.from('€');
    writeFileSync(path, Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
    expect(await readText()).toBe('');
    timeMs += 400;
    expect(await readText()).toBe('a');
    expect(await tail.read(maxBytes)).toMatchObject({ dueInMs: null, more: false });
    timeMs += 4_000;
    expect(await readText()).toBe('');
    appendFileSync(path, euro.subarray(2));
    expect(await readText()).toBe('');
    timeMs += 400;
    expect(await readText()).toBe('€');
  });

  test('is given at the end of the process, even within a character [S3-26]', async () => {
    writeFileSync(path, Buffer.from([0x6f, 0x6b, 0x0a, 0x61, 0xe2, 0x82]));
    expect(Buffer.from((await tail.read(maxBytes, { final: true })).bytes).toString('hex')).toBe('6f6b0a61e282');
    expect(await drain({ final: true })).toEqual([]);
  });

  test('above the limit of a line is given at once', async () => {
    const line = 'é'.repeat(5 * 1024 * 1024);
    writeFileSync(path, line);
    const reads = await drain();
    timeMs += 400;
    reads.push(...(await drain()));
    expect(Buffer.concat(reads.map(({ bytes }) => bytes)).toString() === line).toBe(true);
    for (const { bytes } of reads) expect(bytes[0]).toBe(0xc3);
  });
});

test('reads are bounded, and continue where the last one ended', async () => {
  writeFileSync(path, 'aaa\nbbb\nccc\n');
  const reads = await drain({}, 6);
  expect(reads.map(({ offset, bytes }) => [offset, Buffer.from(bytes).toString()])).toEqual([
    [0, 'aaa\n'],
    [4, 'bbb\n'],
    [8, 'ccc\n'],
  ]);
});

test('a restart continues at the stored offset [5.2.4]', async () => {
  writeFileSync(path, 'one\ntwo\n');
  expect(await readText()).toBe('one\ntwo\n');
  appendFileSync(path, 'three\n');
  reopen(4);
  expect(await readText()).toBe('two\nthree\n');
});

test('for any appends, the reads add up to the file [S3-09, 5.2.5]', async () => {
  const step = fc.record({
    bytes: fc.uint8Array({ maxLength: 60 }),
    newline: fc.boolean(),
    passMs: fc.constantFrom(0, 100, 400),
    limit: fc.integer({ min: 1, max: 80 }),
    restart: fc.boolean(),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      path = join(workspace.root, `out-${(round += 1)}`);
      reopen(0);
      const parts: Uint8Array[] = [];
      for (const { bytes, newline, passMs, limit, restart } of steps) {
        appendFileSync(path, bytes);
        if (newline) appendFileSync(path, '\n');
        timeMs += passMs;
        if (restart) reopen(tail.offset);
        const read = await tail.read(limit);
        expect(read.damaged).toBe(null);
        parts.push(read.bytes);
      }
      parts.push(...(await drain({ final: true }, 50)).map(({ bytes }) => bytes));
      expect(Buffer.concat(parts).equals(steps.length === 0 ? Buffer.alloc(0) : readFileSync(path))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('binary of 20 MB passes unchanged', async () => {
  const bytes = randomBytes(20 * 1024 * 1024);
  writeFileSync(path, bytes);
  const reads = await drain({ final: true });
  expect(Buffer.concat(reads.map((read) => read.bytes)).equals(bytes)).toBe(true);
});

describe('damage', () => {
  test('a truncated file is reported once and read from its beginning', async () => {
    writeFileSync(path, 'one\ntwo\n');
    await readText();
    truncateSync(path, 0);
    appendFileSync(path, 'new\n');
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 0, damaged: 'truncated', more: true });
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 0, damaged: null });
    appendFileSync(path, 'newer\n');
    expect(await readText()).toBe('newer\n');
  });

  test('a file shorter than the stored offset is reported after a restart, too', async () => {
    writeFileSync(path, 'one\n');
    reopen(100);
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 0, damaged: 'truncated' });
    expect(await readText()).toBe('one\n');
  });

  test('after a file is replaced, the unread rest comes first, then the new file', async () => {
    writeFileSync(path, 'one\n');
    await readText();
    appendFileSync(path, 'two\nrest');
    writeFileSync(`${path}.new`, 'other\n');
    renameSync(`${path}.new`, path);
    expect(await readText()).toBe('two\nrest');
    expect(await tail.read(maxBytes)).toMatchObject({ offset: 0, damaged: 'replaced', more: true });
    expect(await readText()).toBe('other\n');
  });

  test('a deleted file, and a directory, a symlink or a FIFO in its place, do no harm', async () => {
    writeFileSync(path, 'one\n');
    await readText();
    rmSync(path);
    expect(await drain()).toEqual([]);
    mkdirSync(path);
    expect(await drain()).toEqual([]);
    reopen(0);
    expect(await drain()).toEqual([]);
    rmSync(path, { recursive: true });
    symlinkSync('/etc/passwd', path);
    expect(await drain()).toEqual([]);
    rmSync(path);
    execFileSync('mkfifo', [path]);
    expect(await drain()).toEqual([]);
    rmSync(path);
    writeFileSync(path, 'back\n');
    expect(await readText()).toBe('back\n');
  });
});

test('two concurrent reads are a programming error', async () => {
  writeFileSync(path, 'x'.repeat(200_000));
  const first = tail.read(maxBytes, { final: true });
  await expect(tail.read(maxBytes)).rejects.toThrow('two reads');
  expect((await first).bytes.length).toBe(200_000);
});
