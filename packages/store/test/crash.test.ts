import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { openDatabase } from '@pawl/store/directory/recovery';
import { daemonState } from '@pawl/store/facts/daemon-state';
import { text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { endChild, signalOf, startChild } from './child-process.ts';
import { expectOldRows } from './contract/upgrade.ts';
import { fixedClock, range, temporaryDirectory } from './fixture.ts';
import { addOldRows, oldMigrations } from './old-database.ts';

test('kill -9 during writes loses no acknowledged one', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  let total = 0;
  for (const round of range(1, 5)) {
    const acknowledged = await writeUntilKilled(directory.path, 20 * round);
    const store = await openDatabase(directory, { clock: fixedClock });
    const last = store.lastSeq();
    expect(last).toBeGreaterThanOrEqual(acknowledged);
    expect(last - acknowledged).toBeLessThanOrEqual(1);
    expect((await daemonState(store.db)).mailMirrorSeq).toBe(last);
    const log = await readEvents(store.db, { afterSeq: total, limit: 1_000 });
    expect(log.map((event) => event.seq)).toEqual(range(total + 1, last));
    total = last;
    await store.close();
    expect(integrityOf(directory.database)).toBe('ok');
  }
});

test('kill -9 during a migration leaves no trace of it', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const child = startChild('open', directory.path, { PAWL_CRASH_AT: 'store.during_migration' });
  expect(await signalOf(child)).toBe('SIGKILL');
  const store = await openDatabase(directory, { clock: fixedClock });
  expect(await readEvents(store.db, { afterSeq: 0, limit: 10 })).toEqual([]);
  await store.close();
});

test('kill -9 during an upgrade leaves the old database, and the next start finishes it', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const before = await openStore(sqliteEngine(directory.database), { clock: fixedClock, migrations: oldMigrations });
  await addOldRows(before);
  await before.close();
  const child = startChild('open', directory.path, { PAWL_CRASH_AT: 'store.during_migration' });
  expect(await signalOf(child)).toBe('SIGKILL');
  // The first release can still open it.
  await (await openStore(sqliteEngine(directory.database), { clock: fixedClock, migrations: oldMigrations })).close();
  const store = await openDatabase(directory, { clock: fixedClock });
  await expectOldRows(store);
  await store.close();
  expect(integrityOf(directory.database)).toBe('ok');
});

test('kill -9 while settings become typed facts leaves every setting, and the next start moves them', async () => {
  const directory = openDataDirectory(temporaryDirectory());
  const migrations = allMigrations.filter(({ name }) => name < '0018');
  const openBefore = () => openStore(sqliteEngine(directory.database), { clock: fixedClock, migrations });
  const before = await openBefore();
  await before.write(async ({ db }) => {
    for (const number of range(1, 100))
      await sql`insert into settings (key, value, updated_at) values (${`parked:${number}`}, 'true', 1)`.execute(db);
  });
  await before.close();
  const child = startChild('open', directory.path, { PAWL_CRASH_AT: 'store.during_migration' });
  expect(await signalOf(child)).toBe('SIGKILL');
  const after = await openBefore();
  const { rows } = await sql`select key from settings`.execute(after.db);
  await after.close();
  expect(rows).toHaveLength(100);
  const store = await openDatabase(directory, { clock: fixedClock });
  expect(await factTable('parked_items', ['id'], { id: text }).all(store.db)).toHaveLength(100);
  await store.close();
});

/** Lets a child write, kills it after some acknowledged writes, and returns the last reported number. */
async function writeUntilKilled(path: string, writes: number): Promise<number> {
  const child = startChild('write', path);
  if (!child.stdout) throw new Error('the child has no output');
  const lines = createInterface(child.stdout);
  const ended = once(lines, 'close');
  let said = 0;
  let last = 0;
  lines.on('line', (line) => {
    last = Number(line);
    said += 1;
    if (said === writes) child.kill('SIGKILL');
  });
  await ended;
  await endChild(child);
  expect(said).toBeGreaterThanOrEqual(writes);
  return last;
}

function integrityOf(path: string): unknown {
  const database = new DatabaseSync(path);
  try {
    return database.prepare('pragma integrity_check').get()?.['integrity_check'];
  } finally {
    database.close();
  }
}
