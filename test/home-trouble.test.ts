import { homeAt } from '@pawl/protocol/node/home';
import { shortageOf } from '@pawl/protocol/node/home-trouble';
import { sampleOf } from '@pawl/testing/endurance';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const bin = join(import.meta.dirname, '..', 'dist', 'pawl.mjs');

/** A home in a directory, and the command line on it. */
function homeIn(directory: string) {
  const home = join(directory, "somebody's home");
  mkdirSync(home, { mode: 0o700 });
  const env = { ...process.env, NO_COLOR: '1', PAWL_HOME: home };
  const run = (command: string) => spawnSync('sh', ['-c', command, bin], { env, encoding: 'utf8' });
  return {
    home,
    run,
    pawl: (word: string) => run(`exec "$0" ${word}`),
    [Symbol.dispose]: () => void run('exec "$0" down'),
  };
}

/** The command that a hint gives between two words. */
function adviceIn(stderr: string): string {
  return /Move it away: (mv .*); then run `pawl up`/.exec(stderr)?.[1] ?? 'false';
}

test('a lock file with content is emptied, and the content is kept [fault 16]', async () => {
  await using place = await temporaryDirectory();
  using at = homeIn(place.path);
  writeFileSync(join(at.home, 'pawl.lock'), 'not a lock\n'.repeat(500));
  expect(at.pawl('up')).toMatchObject({ status: 0, stderr: '' });
  expect(at.pawl('up').stdout).toContain('was already up');
  const [kept = ''] = readdirSync(join(at.home, 'quarantine'));
  expect(readFileSync(join(at.home, 'quarantine', kept), 'utf8')).toContain('not a lock');
});

describe('a file of the wrong type is named, and the advice works [fault 16]', () => {
  test.each(
    sampleOf(['pawl.lock', 'pawl.sock', 'daemon.json', 'token', 'state.json', 'logs/daemon.out', 'logs/daemon.log'], 3),
  )('a directory in place of %s', async (name) => {
    await using place = await temporaryDirectory();
    using at = homeIn(place.path);
    mkdirSync(join(at.home, name, 'something'), { recursive: true, mode: 0o700 });
    const { status, stderr } = at.pawl('up');
    expect(status).toBe(4);
    expect(stderr).toContain(`${join(at.home, name)} is a directory, but a file of Pawl belongs there.`);
    expect(at.run(adviceIn(stderr)).status).toBe(0);
    expect(at.pawl('up')).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(join(at.home, `${name}.aside`))).toEqual(['something']);
  });

  test.each(sampleOf(['logs', 'backups', 'sessions'], 1))('a file in place of the directory %s', async (name) => {
    await using place = await temporaryDirectory();
    using at = homeIn(place.path);
    writeFileSync(join(at.home, name), 'mine');
    const { status, stderr } = at.pawl('up');
    expect(status).toBe(4);
    expect(stderr).toContain(`${join(at.home, name)} is not a directory, but a directory of Pawl belongs there.`);
    expect(at.run(adviceIn(stderr)).status).toBe(0);
    expect(at.pawl('up')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(at.home, `${name}.aside`), 'utf8')).toBe('mine');
  });
});

test('a file in place of the home, or above it, is named, and doctor does not claim to have started anything', async () => {
  await using place = await temporaryDirectory();
  using at = homeIn(place.path);
  rmSync(at.home, { recursive: true });
  writeFileSync(at.home, 'mine');
  const { status, stderr } = at.pawl('up');
  expect(status).toBe(4);
  expect(stderr).toContain(`${at.home} is not a directory, but a directory of Pawl belongs there.`);
  const { stdout } = at.pawl('doctor');
  expect(stdout).toMatch(/^warning {2}daemon +does not run$/m);
  expect(stdout).toMatch(/^error {4}start +.*is not a directory/m);
  const below = at.run('PAWL_HOME="$PAWL_HOME/below" exec "$0" up');
  expect(below.status).toBe(8);
  expect(below.stderr).toContain(`${at.home}/below cannot be created: ENOTDIR`);
  expect(below.stderr).toContain('Set PAWL_HOME to a directory of your own.');
  expect(at.run(adviceIn(stderr)).status).toBe(0);
  expect(at.pawl('up')).toMatchObject({ status: 0, stderr: '' });
});

test('a full disk at start is named, and with some space it starts [fault 9]', async (context) => {
  await using disk = await temporaryDirectory();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', disk.path]);
  if (status !== 0) context.skip('tmpfs cannot be mounted here');
  try {
    using at = homeIn(disk.path);
    const filler = join(disk.path, 'filler');
    for (const pageBytes of [65_536, 4_096]) {
      try {
        for (;;) appendFileSync(filler, Buffer.alloc(pageBytes));
      } catch {
        // It is full.
      }
    }
    const { stderr } = at.pawl('up');
    expect(stderr).toContain(`The disk that holds ${at.home} is full.`);
    rmSync(filler);
    expect(at.pawl('up')).toMatchObject({ status: 0, stderr: '' });
  } finally {
    spawnSync('umount', ['-l', disk.path]);
  }
});

test.each(sampleOf([32, 40], 1))(
  'with at most %i open files the limit is named, and without it it starts [fault 12]',
  async (most) => {
    await using place = await temporaryDirectory();
    using at = homeIn(place.path);
    const { stderr } = at.run(`ulimit -n ${most}; exec "$0" up`);
    expect(stderr).toContain('Too many files are open (EMFILE)');
    expect(stderr).toContain('ulimit -n 1024');
    expect(at.run('ulimit -n 1024; "$0" down; exec "$0" up')).toMatchObject({ status: 0, stderr: '' });
  },
);

test('the cause of a shortage is found from the error, or from the system', async () => {
  await using place = await temporaryDirectory();
  const home = homeAt(place.path);
  const failure = (code: string) => Object.assign(new Error(code), { code });
  expect(shortageOf(failure('ENOSPC'), home)).toMatchObject({ code: 'unavailable', message: /is full/ });
  expect(shortageOf(new Error('outer', { cause: failure('EMFILE') }), home)?.message).toContain('EMFILE');
  // There is space, and files can be opened: SQLite means something else.
  expect(shortageOf(Object.assign(new Error('unable to open'), { errcode: 14 }), home)).toBeNull();
  expect(shortageOf(failure('EACCES'), home)).toBeNull();
});
