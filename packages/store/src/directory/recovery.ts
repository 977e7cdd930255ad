import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@pawl/schema/error';
import { createBackup } from './backup.ts';
import { needsMigration } from './check.ts';
import { createPrivateFile } from './file-lock.ts';
import type { DataDirectory } from './data-directory.ts';
import { renameDurably, syncFile, writeDurably } from './durable-file.ts';
import { readEvents, reserveSeqs } from '../events.ts';
import { databaseSuffixes, exists, planRecovery, recoveryPlan, unfinishedPlan } from './recovery-plan.ts';
import type { RecoveryPlan } from './recovery-plan.ts';
import { sqliteEngine } from '../engine/sqlite-engine.ts';
import { isDamage } from '../engine/sqlite-failure.ts';
import { storeLimits } from '../store-limit.ts';
import { openStore } from '../store.ts';
import type { Store, StoreOptions } from '../store.ts';

/**
 * Opens the database of a locked data directory. Moves a damaged one aside and restores the newest sound backup, or
 * creates a new database, and records that in the log: it is never silently empty. Refuses a database written by a
 * newer program, and leaves it in place.
 */
export async function openDatabase(directory: DataDirectory, options: StoreOptions): Promise<Store> {
  const plan = unfinishedPlan(directory) ?? planRecovery(directory, options.clock());
  if (plan) return recovered(directory, plan, options);
  if (!exists(directory.database)) createDatabase(directory.database);
  // This copy is the only way back from a migration.
  if (needsMigration(directory.database)) await createBackup(directory, { clock: options.clock, minimumAgeMs: 0 });
  try {
    return await openStore(sqliteEngine(directory.database), options);
  } catch (error) {
    // Damage that the start check skips in a large file may still show up in use.
    if (!isDamage(error)) throw error;
    return recovered(directory, recoveryPlan(directory, messageOf(error), options.clock()), options);
  }
}

async function recovered(directory: DataDirectory, planned: RecoveryPlan, options: StoreOptions): Promise<Store> {
  carryOut(directory, planned);
  const store = await openStore(sqliteEngine(directory.database), options);
  await tell(store, planned);
  rmSync(directory.recovery, { force: true });
  return store;
}

/** Executes the rest of a plan. Each phase can be repeated after an interruption. */
function carryOut(directory: DataDirectory, plan: RecoveryPlan): void {
  const enter = (phase: RecoveryPlan['phase']) => writeDurably(directory.recovery, JSON.stringify({ ...plan, phase }));
  if (plan.phase === 'moving') {
    enter('moving');
    moveAside(directory, plan.quarantined);
    enter('moved');
  }
  if (plan.phase !== 'restored') {
    // The new file is not opened before the phase ends, so it may be put there twice.
    if (plan.backup === null) createDatabase(directory.database);
    else restore(plan.backup, directory.database);
    enter('restored');
  }
}

/** During this phase, any file in place of the database belongs to the damaged one. */
function moveAside(directory: DataDirectory, quarantined: string): void {
  mkdirSync(quarantined, { recursive: true, mode: 0o700 });
  for (const suffix of databaseSuffixes) {
    const path = directory.database + suffix;
    if (exists(path)) renameSync(path, join(quarantined, `pawl.db${suffix}`));
  }
  syncFile(quarantined);
  syncFile(directory.path);
}

function restore(backup: string, path: string): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  copyFileSync(backup, fresh);
  chmodSync(fresh, 0o600);
  syncFile(fresh);
  renameDurably(fresh, path);
}

/** Creates a valid, empty database and renames it into place, so that a zero-byte file is always damage. */
function createDatabase(path: string): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  createPrivateFile(fresh);
  const database = new DatabaseSync(fresh);
  try {
    database.exec('pragma user_version = 1');
  } finally {
    database.close();
  }
  syncFile(fresh);
  renameDurably(fresh, path);
}

/** Records in the log what was lost, once. Numbers jump, since those after the backup belonged to lost events. */
async function tell(store: Store, plan: RecoveryPlan): Promise<void> {
  const { quarantined, backup, reason } = plan;
  await store.write(async (tx) => {
    const earlier = await readEvents(tx.db, { afterSeq: 0, limit: Infinity, types: ['store.restored'] });
    if (earlier.some((event) => event.data['quarantined'] === quarantined)) return;
    await reserveSeqs(tx.db, storeLimits.restoredSeqGap);
    tx.emit({ type: 'store.restored', data: { quarantined, backup, reason } });
  });
}
