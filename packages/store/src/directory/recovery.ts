import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@pawl/schema/error';
import { createBackup } from './backup.ts';
import { needsMigration } from '../changes/check.ts';
import { createPrivateFile } from './data-directory.ts';
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
 * Opens the database of a locked data directory. A damaged one is moved aside whole and the newest sound backup takes
 * its place, or else a new database does, and the log says so: it is never silently empty. A database that a newer
 * program wrote is refused and stays where it is.
 */
export async function openDatabase(directory: DataDirectory, options: StoreOptions): Promise<Store> {
  const plan = unfinishedPlan(directory) ?? planRecovery(directory, options.clock());
  if (plan) return recovered(directory, plan, options);
  if (!exists(directory.database)) createDatabase(directory.database);
  // There is no way back from a migration but this copy.
  if (needsMigration(directory.database)) await createBackup(directory, { clock: options.clock, minimumAgeMs: 0 });
  try {
    return await openStore(sqliteEngine(directory.database), options);
  } catch (error) {
    // What the check at start leaves out in a large file may still show when it is used.
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

/** Does what is left of a plan. Each phase can be done again when it was interrupted. */
function carryOut(directory: DataDirectory, plan: RecoveryPlan): void {
  const enter = (phase: RecoveryPlan['phase']) => writeDurably(directory.recovery, JSON.stringify({ ...plan, phase }));
  if (plan.phase === 'moving') {
    enter('moving');
    moveAside(directory, plan.quarantined);
    enter('moved');
  }
  if (plan.phase !== 'restored') {
    // Nobody has opened the new file before the phase ends, so it may be put there twice.
    if (plan.backup === null) createDatabase(directory.database);
    else restore(plan.backup, directory.database);
    enter('restored');
  }
}

/** While this phase lasts, whatever stands in the place of the database belongs to the damaged one. */
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

/** Makes a valid, empty database and renames it into place, so that a file of zero bytes is always damage. */
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

/** Says in the log what was lost, once. The numbers jump, since those after the backup were given to events that are gone. */
async function tell(store: Store, plan: RecoveryPlan): Promise<void> {
  const { quarantined, backup, reason } = plan;
  await store.write(async (tx) => {
    const earlier = await readEvents(tx.db, { afterSeq: 0, limit: Infinity, types: ['store.restored'] });
    if (earlier.some((event) => event.data['quarantined'] === quarantined)) return;
    await reserveSeqs(tx.db, storeLimits.restoredSeqGap);
    tx.emit({ type: 'store.restored', data: { quarantined, backup, reason } });
  });
}
