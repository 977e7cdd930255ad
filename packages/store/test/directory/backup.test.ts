import { readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { limits } from '@pawl/schema/limit';
import { createBackup, listBackups } from '@pawl/store/directory/backup';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import type { DataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { updateDaemonState } from '@pawl/store/facts/daemon-state';
import { text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Store } from '@pawl/store/store';
import { expect, onTestFinished, test } from 'vitest';
import { signalOf, startChild } from '../child-process.ts';
import { emitStopped, fixedClock, fixedTime, range, temporaryDirectory } from '../fixture.ts';

test('copies a database in use, as one private file, and keeps the newest few', async () => {
  const { directory, store } = await openHome();
  for (const number of range(1, limits.backups + 2)) {
    await store.write(async (tx) => emitStopped(tx, `${number}`));
    const path = await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
    expect(seqIn(path ?? '')).toBe(number);
  }
  const names = listBackups(directory).map((path) => basename(path));
  expect(names).toEqual(['pawl-000005.db', 'pawl-000004.db', 'pawl-000003.db']);
  expect(readdirSync(directory.backups).toSorted()).toEqual(names.toSorted());
  expect(statSync(listBackups(directory)[0] ?? '').mode & 0o777).toBe(0o600);
});

test('writes continue during a backup, and the copy is one of the states between', async () => {
  const { directory, store } = await openHome();
  await store.write(async (tx) => emitStopped(tx, 'before'));
  const copying = createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  await Promise.all(range(1, 50).map((number) => store.write(async (tx) => emitStopped(tx, `${number}`))));
  const path = await copying;
  expect(store.lastSeq()).toBe(51);
  expect(seqIn(path ?? '')).toBeGreaterThanOrEqual(1);
});

test('is skipped only if the newest is recent and nothing has changed', async () => {
  const { directory, store } = await openHome();
  const backupAt = (now: number) => createBackup(directory, { clock: () => now, minimumAgeMs: 1_000 });
  await store.write(async (tx) => emitStopped(tx, 'one'));
  expect(await backupAt(fixedTime)).not.toBeNull();
  expect(await backupAt(fixedTime + 999)).toBeNull();
  expect(await backupAt(fixedTime + 1_000)).not.toBeNull();
  expect(await backupAt(fixedTime - 5_000)).not.toBeNull();
  await store.write(async (tx) => emitStopped(tx, 'two'));
  expect(await backupAt(fixedTime - 5_000)).not.toBeNull();
});

test('is not skipped after a fact has changed without an event', async () => {
  const { directory, store } = await openHome();
  const orders = factTable('mail_orders', ['agentId'], { agentId: text, mailIds: text });
  const backup = () => createBackup(directory, { clock: fixedClock, minimumAgeMs: 1_000 });
  await backup();
  expect(await backup()).toBeNull();
  await store.write((tx) => orders.set(tx, { agentId: 'a', mailIds: '[]' }));
  expect(await backup()).not.toBeNull();
  await store.write((tx) => orders.delete(tx, { agentId: 'a' }));
  expect(await backup()).not.toBeNull();
  await store.write((tx) => updateDaemonState(tx, { searchPath: '/bin' }));
  expect(await backup()).not.toBeNull();
  expect(await backup()).toBeNull();
});

test('kill -9 before the rename keeps the older ones, and the leftover is removed', async () => {
  const { directory, store } = await openHome();
  await store.write(async (tx) => emitStopped(tx, 'one'));
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  await store.close();
  const child = startChild('backup', directory.path, { PAWL_CRASH_AT: 'store.during_backup' });
  expect(await signalOf(child)).toBe('SIGKILL');
  expect(readdirSync(directory.backups)).toContain('pawl-000002.db.tmp');
  expect(listBackups(directory).map((path) => basename(path))).toEqual(['pawl-000001.db']);
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  expect(readdirSync(directory.backups).toSorted()).toEqual(['pawl-000001.db', 'pawl-000002.db']);
});

async function openHome(): Promise<{ directory: DataDirectory; store: Store }> {
  const directory = openDataDirectory(temporaryDirectory());
  const store = await openDatabase(directory, { clock: fixedClock });
  onTestFinished(() => store.close());
  return { directory, store };
}

function seqIn(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare('select max(seq) as seq from events').get()?.['seq'];
  } finally {
    database.close();
  }
}
