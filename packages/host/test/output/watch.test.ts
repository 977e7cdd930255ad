import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileWatch } from '../../src/output/watch.ts';
import { watchFiles } from '../../src/output/watch.ts';
import { eventually, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();
let dir: string;
let wakes: string[];
let watch: FileWatch;
const onWake = (woken: string) => wakes.push(woken);

beforeEach(() => {
  dir = join(workspace.root, 'session');
  mkdirSync(dir);
  wakes = [];
});
afterEach(() => watch.close());

/** Adds the directory, and waits for its initial wake. */
async function add(names = ['out', 'exit']): Promise<void> {
  watch.add(dir, names);
  await eventually(() => wakes.includes(dir));
  wakes.length = 0;
}

test('an event wakes without waiting for the poll, and many changes are merged', async () => {
  watch = watchFiles({ onWake, pollMs: 1_000_000 });
  await add();
  expect(watch.hasEvents(dir)).toBe(true);
  for (let line = 0; line < 200; line += 1) appendFileSync(join(dir, 'out'), 'line\n');
  await eventually(() => wakes.length > 0);
  expect(wakes.length).toBeLessThan(100);
  expect(new Set(wakes)).toEqual(new Set([dir]));
});

test.each([
  [
    'are exhausted',
    () => {
      throw Object.assign(new Error('too many'), { code: 'EMFILE' });
    },
  ],
])('if events %s, the poll notices appending, creating and truncating', async (_name, watchDirectory) => {
  watch = watchFiles({ onWake, pollMs: 5, watchDirectory });
  await add();
  expect(watch.hasEvents(dir)).toBe(false);
  for (const change of [
    () => writeFileSync(join(dir, 'out'), 'a'),
    () => appendFileSync(join(dir, 'out'), 'b'),
    () => writeFileSync(join(dir, 'out'), ''),
    () => writeFileSync(join(dir, 'exit'), '0\n'),
  ]) {
    wakes.length = 0;
    change();
    await eventually(() => wakes.length > 0);
  }
});

test('a directory that appears later is found by the poll', async () => {
  watch = watchFiles({ onWake, pollMs: 5 });
  const later = join(workspace.root, 'later');
  watch.add(later, ['out']);
  await eventually(() => wakes.length > 0);
  expect(watch.hasEvents(later)).toBe(false);
  wakes.length = 0;
  mkdirSync(later);
  writeFileSync(join(later, 'out'), 'a');
  await eventually(() => wakes.includes(later));
});

test('a quiet directory does not wake, and a removed one never again', async () => {
  watch = watchFiles({ onWake, pollMs: 2 });
  const [quiet, loud] = [join(workspace.root, 'quiet'), join(workspace.root, 'loud')];
  for (const path of [quiet, loud]) {
    mkdirSync(path);
    watch.add(path, ['out']);
  }
  await add();
  watch.remove(dir);
  appendFileSync(join(dir, 'out'), 'a');
  // Each wake of the loud one shows that a look at the others has been made since.
  for (let round = 0; round < 5; round += 1) {
    wakes.length = 0;
    appendFileSync(join(loud, 'out'), 'a');
    await eventually(() => wakes.includes(loud));
    expect(new Set(wakes)).toEqual(new Set([loud]));
  }
});
