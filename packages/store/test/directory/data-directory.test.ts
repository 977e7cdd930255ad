import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { endurance } from '@pawl/testing/endurance';
import { expect, onTestFinished, test } from 'vitest';
import { ask, endChild, messageFrom, startChild } from '../child-process.ts';
import { emitStopped, fixedClock, range, temporaryDirectory } from '../fixture.ts';

test('is created private, as is every file in it, regardless of the umask', async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const directory = openDataDirectory(join(temporaryDirectory(), 'a', 'b'));
  const lock = lockDataDirectory(directory);
  const store = await openDatabase(directory, { clock: fixedClock });
  await store.write(async (tx) => emitStopped(tx, 'one'));
  const modes = readdirSync(directory.path).map((name) => [name, modeOf(join(directory.path, name))]);
  expect(Object.fromEntries(modes)).toEqual({
    backups: 0o700,
    quarantine: 0o700,
    'pawl.db': 0o600,
    'pawl.db-shm': 0o600,
    'pawl.db-wal': 0o600,
    'pawl.lock': 0o600,
  });
  expect(modeOf(directory.path)).toBe(0o700);
  await store.close();
  lock.release();
});

test('is refused if others can read it, with advice, and not changed', () => {
  const path = join(temporaryDirectory(), 'home');
  mkdirSync(path);
  chmodSync(path, 0o750);
  expect(() => openDataDirectory(path)).toThrow(
    expect.objectContaining({ code: 'forbidden', hint: expect.stringContaining('chmod 700') }),
  );
  expect(modeOf(path)).toBe(0o750);
});

test('is refused if it is a file or a dangling link', () => {
  const path = temporaryDirectory();
  writeFileSync(join(path, 'file'), '');
  symlinkSync(join(path, 'nowhere'), join(path, 'link'));
  for (const name of ['file', 'link', 'file/below']) {
    expect(() => openDataDirectory(join(path, name))).toThrow(expect.objectContaining({ code: 'forbidden' }));
  }
});

test.runIf(process.getuid?.() === 0)('is refused if another user owns it', () => {
  const path = join(temporaryDirectory(), 'home');
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, 65_534, 65_534);
  expect(() => openDataDirectory(path)).toThrow(expect.objectContaining({ code: 'forbidden' }));
});

const rounds = endurance({ whole: 20, small: 6 });

test('one of two processes that lock at once wins, each time [S4-31, W4-02]', async () => {
  const { path } = openDataDirectory(temporaryDirectory());
  const pair = [startChild('lock', path), startChild('lock', path)] as const;
  expect(await Promise.all(pair.map(messageFrom))).toEqual(['ready', 'ready']);
  for (const round of range(1, rounds)) {
    const answers = await Promise.all(pair.map((child) => ask(child, 'try')));
    expect(new Set(answers), `round ${round}`).toEqual(new Set(['already_running', 'won']));
    await Promise.all(pair.map((child) => ask(child, 'release')));
  }
});

test('with garbage in the lock file, of two processes at once one wins, each time [16]', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const pair = [startChild('lock', directory.path), startChild('lock', directory.path)] as const;
  expect(await Promise.all(pair.map(messageFrom))).toEqual(['ready', 'ready']);
  for (const round of range(1, rounds)) {
    writeFileSync(directory.lock, 'not a database '.repeat(400));
    const answers = await Promise.all(pair.map((child) => ask(child, 'try')));
    expect(new Set(answers), `round ${round}`).toEqual(new Set(['already_running', 'won']));
    await Promise.all(pair.map((child) => ask(child, 'release')));
  }
  expect(readdirSync(directory.quarantine).length).toBeGreaterThanOrEqual(rounds);
});

test('garbage written into a held lock changes nothing [16]', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const holder = startChild('lock', directory.path);
  expect(await messageFrom(holder)).toBe('ready');
  expect(await ask(holder, 'try')).toBe('won');
  writeFileSync(directory.lock, 'not a database '.repeat(400));
  expect(() => lockDataDirectory(directory)).toThrow(expect.objectContaining({ code: 'already_running' }));
  await endChild(holder);
  lockDataDirectory(directory).release();
});

test('a frozen holder keeps the lock, and a killed one releases it', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const holder = startChild('lock', directory.path);
  expect(await messageFrom(holder)).toBe('ready');
  expect(await ask(holder, 'try')).toBe('won');
  writeFileSync(directory.daemon, JSON.stringify({ pid: holder.pid }));
  holder.kill('SIGSTOP');
  expect(() => lockDataDirectory(directory)).toThrow(
    expect.objectContaining({ code: 'already_running', details: { pid: holder.pid } }),
  );
  await endChild(holder);
  lockDataDirectory(directory).release();
});

test('a second lock in one process is refused and does not drop the first', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const held = lockDataDirectory(directory);
  const other = startChild('lock', directory.path);
  expect(await messageFrom(other)).toBe('ready');
  for (const content of ['not json', '[]', '{"pid":"1; rm -rf"}']) {
    writeFileSync(directory.daemon, content);
    expect(() => lockDataDirectory(directory)).toThrow(
      expect.objectContaining({ code: 'already_running', details: { pid: null } }),
    );
  }
  expect(await ask(other, 'try')).toBe('already_running');
  held.release();
  expect(await ask(other, 'try')).toBe('won');
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
