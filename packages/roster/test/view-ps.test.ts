import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { parseLine, parseLsof, psView } from '../src/view-ps.ts';

test('lines of ps', () => {
  expect(parseLine('  12     7  501 S+   Sun Nov  1 04:49:07 2026 a (b) c ')).toEqual({
    entry: {
      pid: 12,
      parent: 7,
      user: 501,
      start: `ps/${Date.UTC(2026, 10, 1, 4, 49, 7) / 1_000}`,
      startedAt: Date.UTC(2026, 10, 1, 4, 49, 7),
    },
    last: 'a (b) c',
  });
  expect(parseLine('12 7 501 Z Sun Nov  1 04:49:07 2026 (claude)')).toBe(null);
  expect(parseLine('nonsense')).toBe(null);
});

test('lines of lsof', () => {
  const found = parseLsof('p12\nfcwd\nn/a/b c\np13\nfcwd\nn/proc/13/cwd (readlink: Permission denied)\np14\n');
  expect(found.get(12)).toEqual({ state: 'at', path: '/a/b c' });
  expect(found.get(13)).toMatchObject({ state: 'unreadable' });
  expect(found.has(14)).toBe(false);
});

test('a missing program makes it inconclusive [2.2.6]', () => {
  expect(() => psView({ ps: '/no/ps', lsof: 'lsof' }).list()).toThrow(/\/no\/ps does not exist/);
  expect(() => psView({ ps: 'ps', lsof: '/no/lsof' }).directories([1])).toThrow(/\/no\/lsof does not exist/);
  expect(() => psView({ ps: 'true', lsof: 'lsof' }).list()).toThrow(/does not list processes/);
});

const has = (program: string) => spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined;

test.runIf(has('lsof') && has('ps'))('ps and lsof show a process, its words and its directory [2.2.6]', async () => {
  await using place = await temporaryDirectory();
  const child = spawn('sleep', ['300'], { cwd: place.path, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const view = psView();
    const found = await waitUntil(
      () => view.list().processes.find((each) => each.pid === pid && each.name === 'sleep'),
      { what: 'the sleeper' },
    );
    expect(found).toMatchObject({ parent: process.pid, words: ['sleep', '300'] });
    expect(Math.abs(Date.now() - (found.startedAt ?? 0))).toBeLessThan(60_000);
    expect(view.directories([pid, 4_194_999])).toEqual(
      new Map<number, object>([
        [pid, { state: 'at', path: place.path }],
        [4_194_999, { state: 'gone' }],
      ]),
    );
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
