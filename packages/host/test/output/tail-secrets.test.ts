import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Tail } from '../../src/output/tail.ts';
import { openTail } from '../../src/output/tail.ts';
import { useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
const secret = 'sk-ant-0123456789-ABCDEF';
const masked = '*'.repeat(secret.length);
const maxBytes = 256 * 1024;
let path: string;
let timeMs: number;

beforeEach(() => {
  path = join(workspace.root, 'out');
  timeMs = 1_000;
});

function open(secrets = [secret], offset = 0): Tail {
  const tail = openTail({ path, offset, secrets, now: () => timeMs, partialLineMs: 400 });
  onTestFinished(() => tail.close());
  return tail;
}

async function drain(tail: Tail, limit: number, final: boolean): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const { bytes, damaged } = await tail.read(limit, { final });
    if (bytes.length === 0 && damaged === null) return Buffer.concat(parts);
    parts.push(bytes);
  }
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('a secret [5.2.11]', () => {
  test('is masked in the output and in the file, which keeps its length', async () => {
    writeFileSync(path, `{"key":"${secret}"}\nrest ${secret}${secret}\n`);
    const tail = open();
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`{"key":"${masked}"}\nrest ${masked}${masked}\n`);
    expect(readFileSync(path, 'utf8')).toBe(`{"key":"${masked}"}\nrest ${masked}${masked}\n`);
    appendFileSync(path, `${secret}\n`);
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`${masked}\n`);
    expect(readFileSync(path, 'utf8')).not.toContain(secret);
  });

  test('is masked at whatever byte of it a read ends', async () => {
    const content = `one ${secret} two ${secret} three`;
    for (let limit = 1; limit <= content.length; limit++) {
      writeFileSync(path, content);
      const given = await drain(open(), limit, true);
      expect(text(given)).toBe(content.replaceAll(secret, masked));
      expect(readFileSync(path, 'utf8')).toBe(text(given));
    }
  });

  test('with escapes inside is masked whole, at whatever byte of it a read ends', async () => {
    const hidden = secret.split('').join('\u001B[0m\u200B');
    const content = `one ${hidden} two`;
    for (let limit = 5; limit <= content.length; limit += 11) {
      writeFileSync(path, content);
      const given = await drain(open(), limit, true);
      expect(text(given)).toBe(`one ${'*'.repeat(Buffer.byteLength(hidden))} two`);
      expect(readFileSync(path, 'utf8')).toBe(text(given));
    }
  });

  test('that arrives byte by byte is given masked once it is complete', async () => {
    writeFileSync(path, 'key ');
    const tail = open();
    let given = '';
    for (const byte of secret) {
      appendFileSync(path, byte);
      given += text((await tail.read(maxBytes)).bytes);
    }
    timeMs += 200;
    expect(given).toBe('');
    appendFileSync(path, '\n');
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`key ${masked}\n`);
  });

  test('whose line stops within it is held back, except for a few harmless bytes', async () => {
    for (let length = 1; length < secret.length; length++) {
      writeFileSync(path, `key ${secret.slice(0, length)}`);
      const tail = open();
      expect((await tail.read(maxBytes)).bytes).toHaveLength(0);
      timeMs += 400;
      const kept = length < 8 ? secret.slice(0, length) : '';
      expect(text((await tail.read(maxBytes)).bytes)).toBe(`key ${kept}`);
      expect((await tail.read(maxBytes)).bytes).toHaveLength(0);
      timeMs += 4_000;
      expect((await tail.read(maxBytes)).bytes).toHaveLength(0);
      // A new tail, as after a restart, knows as much as the old one.
      const next = length % 2 === 0 ? tail : open([secret], tail.offset);
      appendFileSync(path, `${secret.slice(length)}!\n`);
      expect(text((await next.read(maxBytes)).bytes)).toBe(`${masked.slice(kept.length)}!\n`);
      expect(readFileSync(path, 'utf8')).toBe(`key ${kept}${masked.slice(kept.length)}!\n`);
    }
  });

  test('that turns out not to be one is given unchanged', async () => {
    writeFileSync(path, `key ${secret.slice(0, 12)}`);
    const tail = open();
    await tail.read(maxBytes);
    timeMs += 400;
    expect(text((await tail.read(maxBytes)).bytes)).toBe('key ');
    appendFileSync(path, ' is how they begin\n');
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`${secret.slice(0, 12)} is how they begin\n`);
  });

  test('that the process ended in the middle of is masked as far as it goes', async () => {
    writeFileSync(path, `key ${secret.slice(0, 20)}`);
    expect(text(await drain(open(), maxBytes, true))).toBe(`key ${'*'.repeat(20)}`);
    expect(readFileSync(path, 'utf8')).toBe(`key ${'*'.repeat(20)}`);
    writeFileSync(path, `key ${secret.slice(0, 7)}`);
    expect(text(await drain(open(), 3, true))).toBe(`key ${secret.slice(0, 7)}`);
  });

  test('that was read by a daemon which then died is masked by the next', async () => {
    writeFileSync(path, `a\nb ${secret}\n`);
    await open().read(maxBytes);
    expect(text((await open([secret], 2).read(maxBytes)).bytes)).toBe(`b ${masked}\n`);
    // One that died before it had overwritten anything left the file as it was.
    writeFileSync(path, `a\nb ${secret}\n`);
    expect(text((await open([secret], 2).read(maxBytes)).bytes)).toBe(`b ${masked}\n`);
    expect(readFileSync(path, 'utf8')).toBe(`a\nb ${masked}\n`);
  });

  test('is masked in a replaced or truncated file, too', async () => {
    writeFileSync(path, 'one\n');
    const tail = open();
    await tail.read(maxBytes);
    appendFileSync(path, `two ${secret}`);
    renameSync(path, `${path}.old`);
    writeFileSync(path, `other ${secret}\n`);
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`two ${masked}`);
    expect(readFileSync(`${path}.old`, 'utf8')).toBe(`one\ntwo ${masked}`);
    expect(await tail.read(maxBytes)).toMatchObject({ damaged: 'replaced' });
    expect(text((await tail.read(maxBytes)).bytes)).toBe(`other ${masked}\n`);
    truncateSync(path, 0);
    appendFileSync(path, `${secret}\n`);
    await tail.read(maxBytes);
    expect(text(await drain(tail, maxBytes, false))).toContain(`${masked}\n`);
    expect(readFileSync(path, 'utf8')).toBe(`${masked}\n`);
  });

  test('is not given even if the file cannot be written', async () => {
    writeFileSync(path, `${secret}\n`);
    chmodSync(path, 0o400);
    expect(text((await open().read(maxBytes)).bytes)).toBe(`${masked}\n`);
  });
});

test('for any appends and reads, exactly the secrets are masked', async () => {
  const secrets = ['aabaabaa', 'bbbbbbbbb', 'abcabcabcab'];
  const piece = fc.oneof(
    fc.constantFrom(...secrets, ...secrets.map((each) => each.slice(0, 6)), ...secrets.map((each) => each.slice(3))),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n', '€'), maxLength: 12 }),
  );
  const step = fc.record({
    piece,
    passMs: fc.constantFrom(0, 0, 0, 400),
    limit: fc.integer({ min: 1, max: 40 }),
    restart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      writeFileSync(path, '');
      let tail = open(secrets);
      const parts: Uint8Array[] = [];
      let original = '';
      for (const { piece: appended, passMs, limit, restart } of steps) {
        appendFileSync(path, appended);
        original += appended;
        timeMs += passMs;
        if (restart) tail = open(secrets, tail.offset);
        parts.push((await tail.read(limit)).bytes);
      }
      parts.push(await drain(tail, 30, true));
      tail.close();
      const file = readFileSync(path);
      expect(Buffer.concat(parts).equals(file)).toBe(true);
      const before = Buffer.from(original);
      expect(file).toHaveLength(before.length);
      for (const each of secrets) expect(file.includes(each)).toBe(false);
      // Every byte that changed belongs to a secret, or to the beginning of one at the very end.
      for (const [at, byte] of file.entries()) {
        if (byte === before[at]) continue;
        expect(secrets.some((each) => covers(before, each, at))).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

/** True when a secret, or at the end of the text the beginning of one, stands over a byte. */
function covers(bytes: Buffer, secret: string, at: number): boolean {
  for (let start = Math.max(0, at - secret.length + 1); start <= at; start++) {
    const there = bytes.subarray(start, start + secret.length).toString('latin1');
    if (there === secret || (start + secret.length > bytes.length && secret.startsWith(there))) return true;
  }
  return false;
}

test('a concurrent writer loses nothing', async () => {
  const lines = 20_000;
  const script = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i ${secret} end"; done`;
  writeFileSync(path, '');
  const child = spawn('sh', ['-c', `exec >>"$1"; ${script}`, 'sh', path], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let running = true;
  void ended.then(() => (running = false));
  const tail = open();
  const parts: Uint8Array[] = [];
  while (running) {
    parts.push((await tail.read(8 * 1024)).bytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  parts.push(await drain(tail, maxBytes, true));
  const expected = Array.from({ length: lines }, (_, index) => `line ${index + 1} ${masked} end\n`).join('');
  expect(Buffer.concat(parts).toString() === expected).toBe(true);
  expect(readFileSync(path, 'utf8') === expected).toBe(true);
});
