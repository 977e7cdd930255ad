import { temporaryDirectory } from '@pawl/testing/temporary';
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OutputOptions, Piece } from '../../src/supervise/output.ts';
import { openOutput } from '../../src/supervise/output.ts';

const textOf = (pieces: readonly Piece[]) =>
  pieces.map(({ stream, offset, bytes, damaged }) => `${stream}@${offset} ${damaged ?? Buffer.from(bytes).toString()}`);

type Changes = Partial<OutputOptions<string[]>>;

/** Reads both streams of a directory. */
function openBoth(directory: string, changes: Changes = {}) {
  return openOutput<string[]>({
    directory,
    offsets: { stdout: 0, stderr: 0 },
    secrets: [],
    toBatch: (pieces) => (pieces.length === 0 ? null : textOf(pieces)),
    ...changes,
  });
}

test('a batch is repeated until it is accepted, and another reader continues where the store ends', async () => {
  await using place = await temporaryDirectory();
  const [out, err] = [join(place.path, 'out'), join(place.path, 'err')];
  writeFileSync(out, 'a\n');
  writeFileSync(err, 'x\n');
  const output = openBoth(place.path);
  const first = ['stdout@0 a\n', 'stderr@0 x\n'];
  expect(await output.collect({ final: false })).toEqual(first);
  appendFileSync(out, 'b\n');
  expect(await output.collect({ final: false })).toEqual(first);
  output.accept();
  expect(await output.collect({ final: false })).toEqual(['stdout@2 b\n']);
  output.close();
  const next = openBoth(place.path, { offsets: { stdout: 2, stderr: 2 } });
  expect(await next.collect({ final: false })).toEqual(['stdout@2 b\n']);
  next.accept();
  expect(await next.collect({ final: true })).toBeNull();
  next.close();
});

test('an unfinished line is due later, and comes at once at the end', async () => {
  await using place = await temporaryDirectory();
  writeFileSync(join(place.path, 'out'), 'half');
  const output = openBoth(place.path);
  expect(await output.collect({ final: false })).toBeNull();
  expect(output.dueInMs()).toBeGreaterThan(0);
  expect(await output.collect({ final: true })).toEqual(['stdout@0 half']);
  output.close();
});

test('no more is read than there is room for', async () => {
  await using place = await temporaryDirectory();
  writeFileSync(join(place.path, 'out'), 'one\ntwo\nthree\n');
  let room = 8;
  const output = openBoth(place.path, { offsets: { stdout: 0 }, room: () => room });
  expect(await output.collect({ final: true })).toEqual(['stdout@0 one\ntwo\n']);
  expect(output.hasMore()).toBe(false);
  output.accept();
  room = 0;
  expect(await output.collect({ final: true })).toBeNull();
  output.close();
});

test('damage is reported in its place', async () => {
  await using place = await temporaryDirectory();
  const out = join(place.path, 'out');
  writeFileSync(out, 'long line\n');
  const output = openBoth(place.path);
  await output.collect({ final: false });
  output.accept();
  truncateSync(out, 0);
  writeFileSync(out, 'new\n');
  expect(await output.collect({ final: false })).toEqual(['stdout@0 truncated', 'stdout@0 new\n']);
  output.close();
});
