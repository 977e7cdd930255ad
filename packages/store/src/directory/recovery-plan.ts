import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { listBackups } from './backup.ts';
import { damageOf } from './check.ts';
import type { DataDirectory } from './data-directory.ts';

/**
 * A written recovery plan, so that the next start finishes an interrupted recovery.
 *   moving ──> moved ──> restored ──> (the event is in the log, the plan is removed)
 */
export type RecoveryPlan = {
  phase: 'moving' | 'moved' | 'restored';
  /** The directory that the damaged database is moved to, with all its files. */
  quarantined: string;
  /** The backup to restore, or null for a new database. */
  backup: string | null;
  reason: string;
};

/** The files of one SQLite database. */
export const databaseSuffixes = ['', '-wal', '-shm', '-journal'] as const;

/** Checks the database of a directory, and plans a recovery if it is damaged or missing. Changes nothing. */
export function planRecovery(directory: DataDirectory, now: number): RecoveryPlan | null {
  const reason = reasonToRecover(directory);
  return reason === null ? null : recoveryPlan(directory, reason, now);
}

/** Plans to replace the database by the newest sound backup. */
export function recoveryPlan(directory: DataDirectory, reason: string, now: number): RecoveryPlan {
  const time = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  let quarantined = join(directory.quarantine, `pawl.db-${time}`);
  for (let copy = 2; exists(quarantined); copy += 1)
    quarantined = join(directory.quarantine, `pawl.db-${time}-${copy}`);
  return { phase: 'moving', quarantined, backup: soundBackup(directory), reason };
}

/** The plan of an interrupted recovery, or null. */
export function unfinishedPlan(directory: DataDirectory): RecoveryPlan | null {
  if (!exists(directory.recovery)) return null;
  try {
    const plan = JSON.parse(readFileSync(directory.recovery, 'utf8')) as Partial<RecoveryPlan>;
    const { phase, quarantined, backup, reason } = plan;
    if (phase !== 'moving' && phase !== 'moved' && phase !== 'restored') return null;
    if (typeof quarantined !== 'string' || typeof reason !== 'string') return null;
    if (typeof backup !== 'string') return { phase, quarantined, reason, backup: null };
    const isGone = phase !== 'restored' && !exists(backup);
    return { phase, quarantined, reason, backup: isGone ? soundBackup(directory) : backup };
  } catch {
    // Written by rename, so ours is never half-written; check the database afresh.
    return null;
  }
}

/** True if anything is at this path, even a dangling link. */
export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function soundBackup(directory: DataDirectory): string | null {
  return listBackups(directory).find((path) => damageOf(path, { mayBeEmpty: false }) === null) ?? null;
}

function reasonToRecover(directory: DataDirectory): string | null {
  const hasBackup = listBackups(directory).length > 0;
  const stats = lstatSync(directory.database, { throwIfNoEntry: false });
  if (!stats) {
    const orphaned = databaseSuffixes.some((suffix) => exists(directory.database + suffix));
    return hasBackup || orphaned ? 'the database file is missing' : null;
  }
  if (stats.isDirectory()) return 'there is a directory in place of the database';
  if (!stats.isFile()) throw notAFile(directory.database);
  if (stats.size === 0) return 'the database file is empty';
  return damageOf(directory.database, { mayBeEmpty: !hasBackup });
}

function notAFile(path: string): PawlError {
  return new PawlError('store_failed', `${path} is a link or a device, not a file.`, {
    hint: 'Put the database file itself there, or set PAWL_HOME to another directory.',
  });
}
