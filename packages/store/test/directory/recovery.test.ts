import {
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createBackup, listBackups } from '@pawl/store/directory/backup';
import { damageOf } from '@pawl/store/directory/check';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import type { DataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { openDatabase } from '@pawl/store/directory/recovery';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import { storeLimits } from '@pawl/store/store-limit';
import type { Event } from '@pawl/schema/event';
import { describe, expect, test } from 'vitest';
import { emitStopped, fixedClock, range, temporaryDirectory } from '../fixture.ts';

const damages: Record<string, (path: string) => void> = {
  missing: (path) => rmSync(path),
  'a directory': (path) => {
    rmSync(path);
    mkdirSync(path);
    writeFileSync(join(path, 'precious'), 'kept');
  },
  'zero bytes': (path) => truncateSync(path, 0),
  'cut in half': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  'cut by a page': (path) => truncateSync(path, statSync(path).size - 4096),
  garbage: (path) => writeFileSync(path, Buffer.alloc(20_000, 'garbage')),
  'zeroed pages': (path) => overwrite(path, 4096 * 2, Buffer.alloc(4096 * 6)),
  'a broken header': (path) => overwrite(path, 0, Buffer.from('SQLite format 4')),
};

describe.each(Object.keys(damages))('a database that is %s', (kind) => {
  test('is moved aside and replaced by the newest backup, recorded once', async () => {
    const directory = await homeWithBackup();
    damages[kind]?.(directory.database);
    expect(await state(directory)).toMatchObject({ value: 'backed up', restored: 1 });
    const { log, lastSeq } = await state(directory);
    const event = log.at(-1);
    expect(event).toMatchObject({ type: 'store.restored', data: { backup: listBackups(directory)[0] } });
    expect(event?.seq).toBe(lastSeq);
    expect(lastSeq).toBe(1 + storeLimits.restoredSeqGap + 1);
    expect(existsSync(join(String(event?.data['quarantined']), 'pawl.db'))).toBe(kind !== 'missing');
    expect(existsSync(directory.recovery)).toBe(false);
  });
});

const damagedInPlace = Object.keys(damages).filter((kind) => kind !== 'missing');

test.each(damagedInPlace)('a database that is %s is kept, and the log says so, if there is no backup', async (kind) => {
  const directory = await homeWithBackup();
  for (const path of listBackups(directory)) rmSync(path);
  damages[kind]?.(directory.database);
  const { value, restored, log } = await state(directory);
  expect({ value, restored }).toEqual({ value: null, restored: 1 });
  expect(log.at(-1)?.data).toMatchObject({ backup: null });
  expect(readdirSync(directory.quarantine)).toHaveLength(1);
});

test('the write-ahead log is moved with its database', async () => {
  const directory = await homeWithBackup();
  writeFileSync(directory.database, 'not a database at all');
  writeFileSync(`${directory.database}-wal`, 'its log');
  const { log } = await state(directory);
  const quarantined = String(log.at(-1)?.data['quarantined']);
  expect(readFileSync(join(quarantined, 'pawl.db-wal'), 'utf8')).toBe('its log');
});

test('a damaged backup is skipped for an older one', async () => {
  const directory = await homeWithBackup();
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  const [newest = '', older] = listBackups(directory);
  truncateSync(newest, 5_000);
  writeFileSync(directory.database, 'garbage');
  const { value, log } = await state(directory);
  expect(value).toBe('backed up');
  expect(log.at(-1)?.data).toMatchObject({ backup: older });
});

test('a sound database is opened unchanged', async () => {
  const directory = await homeWithBackup();
  expect(await state(directory)).toMatchObject({ value: 'after the backup', restored: 0, lastSeq: 2 });
  expect(readdirSync(directory.quarantine)).toEqual([]);
});

test('a database written by a newer program is refused and stays in place', async () => {
  const directory = await homeWithBackup();
  const database = new DatabaseSync(directory.database);
  database.exec(`insert into migrations values ('9999-future', 1)`);
  database.close();
  const before = readFileSync(directory.database);
  const refused = openDatabase(directory, { clock: fixedClock });
  await expect(refused).rejects.toMatchObject({ code: 'store_too_new' });
  expect(readFileSync(directory.database).equals(before)).toBe(true);
  expect(readdirSync(directory.quarantine)).toEqual([]);
});

test('a link in place of the database is refused, not followed', async () => {
  const directory = await homeWithBackup();
  renameSync(directory.database, `${directory.path}/elsewhere.db`);
  symlinkSync('elsewhere.db', directory.database);
  await expect(openDatabase(directory, { clock: fixedClock })).rejects.toMatchObject({ code: 'store_failed' });
});

describe('an interrupted recovery is finished', () => {
  const plan = (directory: DataDirectory, phase: string) => ({
    phase,
    quarantined: join(directory.quarantine, 'pawl.db-then'),
    backup: listBackups(directory)[0],
    reason: 'it was damaged',
  });

  test.each(range(0, 2))('with %i of its files moved', async (moved) => {
    const directory = await homeWithBackup();
    const { quarantined, ...rest } = plan(directory, 'moving');
    writeFileSync(directory.recovery, JSON.stringify({ quarantined, ...rest }));
    const suffixes = ['', '-wal', '-shm'];
    for (const suffix of suffixes) writeFileSync(directory.database + suffix, `damaged${suffix}`);
    mkdirSync(quarantined);
    for (const suffix of suffixes.slice(0, moved)) {
      renameSync(directory.database + suffix, join(quarantined, `pawl.db${suffix}`));
    }
    expect(await state(directory)).toMatchObject({ value: 'backed up', restored: 1 });
    for (const suffix of suffixes) {
      expect(readFileSync(join(quarantined, `pawl.db${suffix}`), 'utf8')).toBe(`damaged${suffix}`);
    }
  });

  test('before and after the backup was put in place', async () => {
    const directory = await homeWithBackup();
    rmSync(directory.database);
    writeFileSync(`${directory.database}.new`, 'half a copy');
    writeFileSync(directory.recovery, JSON.stringify(plan(directory, 'moved')));
    expect(await state(directory)).toMatchObject({ value: 'backed up', restored: 1 });
    expect(existsSync(`${directory.database}.new`)).toBe(false);
  });

  test('with another backup, if the chosen one is gone', async () => {
    const directory = await homeWithBackup();
    const chosen = join(directory.backups, 'pawl-000099.db');
    writeFileSync(directory.recovery, JSON.stringify({ ...plan(directory, 'moved'), backup: chosen }));
    rmSync(directory.database);
    expect(await state(directory)).toMatchObject({ value: 'backed up', restored: 1 });
  });

  test('without recording it twice', async () => {
    const directory = await homeWithBackup();
    writeFileSync(directory.database, 'garbage');
    const { log } = await state(directory);
    const told = log.at(-1)?.data;
    writeFileSync(directory.recovery, JSON.stringify({ ...told, phase: 'restored' }));
    expect(await state(directory)).toMatchObject({ value: 'backed up', restored: 1 });
    expect(existsSync(directory.recovery)).toBe(false);
  });
});

test('in a large file everything but the chunks is checked, and truncation is noticed', async () => {
  const directory = await homeWithBackup();
  const database = new DatabaseSync(directory.database);
  const insert = database.prepare(`insert into chunks values (null, 's', 'a', 'stdout', 0, zeroblob(?), 1)`);
  insert.run(storeLimits.wholeCheckBytes);
  // Rows after the large one, so that the last pages are not its own.
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
    insert into mail_orders (agent_id, mail_ids, updated_at) select 'k' || i, hex(zeroblob(2000)), 1 from n
  `);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  const check = () => damageOf(directory.database, { mayBeEmpty: false });
  expect(check()).toBeNull();
  const size = statSync(directory.database).size;
  overwrite(directory.database, Math.floor(size / 8192) * 4096, Buffer.alloc(4096, 7));
  expect(check()).toBeNull();
  overwrite(directory.database, size - 4096 * 40, Buffer.alloc(4096 * 40, 7));
  expect(check()).not.toBeNull();
  truncateSync(directory.database, size - 4096);
  expect(check()).not.toBeNull();
});

/** A directory with a backup, and one more write after it. */
async function homeWithBackup(): Promise<DataDirectory> {
  const directory = openDataDirectory(temporaryDirectory());
  const store = await openDatabase(directory, { clock: fixedClock });
  const say = (value: string) =>
    store.write(async (tx) => {
      await updateDaemonState(tx, { searchPath: value });
      emitStopped(tx, value);
    });
  await say('backed up');
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  await say('after the backup');
  await store.close();
  return directory;
}

/** Opens the database as the daemon does, and returns what it found. */
async function state(
  directory: DataDirectory,
): Promise<{ value: unknown; restored: number; lastSeq: number; log: Event[] }> {
  const store = await openDatabase(directory, { clock: fixedClock });
  try {
    const log = await readEvents(store.db, { afterSeq: 0, limit: 100 });
    const restored = log.filter((event) => event.type === 'store.restored').length;
    return { value: (await daemonState(store.db)).searchPath, restored, lastSeq: store.lastSeq(), log };
  } finally {
    await store.close();
  }
}

function overwrite(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}
