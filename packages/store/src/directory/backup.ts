import { chmodSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, backup } from 'node:sqlite';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { damageOf } from './check.ts';
import { createPrivateFile } from './file-lock.ts';
import type { DataDirectory } from './data-directory.ts';
import { renameDurably, syncFile } from './durable-file.ts';
import { sqliteFailureOf } from '../engine/sqlite-failure.ts';
import { factTables } from '../facts/fact-tables.ts';
import { storeLimits } from '../store-limit.ts';

/** Copies in one step, from one snapshot: with smaller steps, every write in between would restart it. */
const allPages = 2 ** 31 - 1;

/** The paths of the backups, newest first. They are numbered, because clocks jump. */
export function listBackups(directory: DataDirectory): string[] {
  return readdirSync(directory.backups)
    .filter((name) => numberOf(name) !== null)
    .sort((a, b) => (numberOf(b) ?? 0) - (numberOf(a) ?? 0))
    .map((name) => join(directory.backups, name));
}

/**
 * Copies the database while it is in use, checks the copy, and keeps the newest few. Returns the path of the copy, or
 * null if the newest backup is younger than `minimumAgeMs` and nothing has changed. One call at a time.
 */
export async function createBackup(
  directory: DataDirectory,
  options: { clock: () => number; minimumAgeMs: number },
): Promise<string | null> {
  removeLeftovers(directory);
  const now = options.clock();
  const newest = listBackups(directory)[0];
  const source = new DatabaseSync(directory.database, { timeout: storeLimits.busyMs, readOnly: true });
  try {
    if (newest !== undefined && isYoung(newest, now, options.minimumAgeMs) && isUnchanged(source, newest)) return null;
    const path = join(directory.backups, nameAfter(newest));
    await copyTo(source, `${path}.tmp`, now);
    crashPoint('store.during_backup');
    renameDurably(`${path}.tmp`, path);
    for (const old of listBackups(directory).slice(limits.backups)) rmSync(old, { force: true });
    return path;
  } catch (error) {
    throw sqliteFailureOf(error) ?? error;
  } finally {
    source.close();
    removeLeftovers(directory);
  }
}

/** Makes a standalone copy, without a write-ahead log, that has passed the check. */
async function copyTo(source: DatabaseSync, path: string, now: number): Promise<void> {
  createPrivateFile(path);
  await backup(source, path, { rate: allPages });
  const copy = new DatabaseSync(path);
  try {
    copy.exec('pragma journal_mode = delete');
  } finally {
    copy.close();
  }
  const damage = damageOf(path, { mayBeEmpty: false });
  if (damage !== null) {
    throw new PawlError('store_failed', `The backup is damaged: ${damage}`, {
      hint: 'The older backups were kept. Check the disk and restart the daemon, which checks the database.',
    });
  }
  chmodSync(path, 0o600);
  utimesSync(path, now / 1000, now / 1000);
  syncFile(path);
}

function isYoung(path: string, now: number, minimumAgeMs: number): boolean {
  const ageMs = now - statSync(path).mtimeMs;
  return ageMs >= 0 && ageMs < minimumAgeMs;
}

function isUnchanged(source: DatabaseSync, backupPath: string): boolean {
  const copy = new DatabaseSync(backupPath, { readOnly: true });
  try {
    return progressOf(source) === progressOf(copy);
  } catch {
    return false;
  } finally {
    copy.close();
  }
}

/** The tables with rows that change without an event. */
const quietTables = ['daemon_state', ...factTables];

/** Other facts change together with an event, and output only grows, so these numbers identify a state. */
function progressOf(database: DatabaseSync): string {
  const quiet = quietTables.map(
    (table) => `(select count(*) from ${table}) as ${table}_rows, (select max(updated_at) from ${table}) as ${table}`,
  );
  const row = database
    .prepare(
      `select (select value from counters where name = 'event_seq') as seq,
              (select max(id) from chunks) as chunk, (select max(id) from messages) as message,
              (select count(*) from migrations) as migration, ${quiet.join(', ')}`,
    )
    .get();
  return JSON.stringify(row);
}

function removeLeftovers(directory: DataDirectory): void {
  for (const name of readdirSync(directory.backups)) {
    if (name.includes('.db.tmp')) rmSync(join(directory.backups, name), { force: true });
  }
}

function numberOf(name: string): number | null {
  const match = /^pawl-(\d{6,})\.db$/.exec(name);
  return match ? Number(match[1]) : null;
}

function nameAfter(newest: string | undefined): string {
  const last = newest === undefined ? 0 : (numberOf(newest.slice(newest.lastIndexOf('/') + 1)) ?? 0);
  return `pawl-${String(last + 1).padStart(6, '0')}.db`;
}
