import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileWatch } from '../src/watch.ts';
import { watchFiles } from '../src/watch.ts';
import { eventually, useWorkspace } from './support/workspace.ts';

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

/** Adds the directory, and waits for the wake that greets it. */
async function add(names = ['out', 'exit']): Promise<void> {
  watch.add(dir, names);
  await eventually(() => wakes.length > 0);
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
])('where events %s, the poll sees appending, creating and truncating', async (_name, watchDirectory) => {
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
  await add();
  const other = join(workspace.root, 'other');
  mkdirSync(other);
  watch.add(other, ['out']);
  await eventually(() => wakes.length > 0);
  watch.remove(dir);
  appendFileSync(join(dir, 'out'), 'a');
  appendFileSync(join(other, 'out'), 'a');
  await eventually(() => wakes.length > 1);
  // Several polls go by; a wake for the removed directory would have been there before these.
  await pause(20);
  expect(wakes).not.toContain(dir);
  const count = wakes.length;
  await pause(20);
  expect(wakes.length).toBe(count);
});
