import { closeSync, fchmodSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { hasErrno } from '@pawl/schema/error';
import { isBusy } from '../engine/sqlite-failure.ts';

export type FileLock = { release(): void };

/**
 * Locks a file until it is released or this process dies; null if another process holds it. It is a kernel lock: it
 * leaves no stale file, is independent of pids, and a frozen holder keeps it. Throws if the file has foreign content.
 * Only SQLite opens the file. Closing any other descriptor of it would drop this process's lock.
 */
export function holdFileLock(path: string, waitMs: number): FileLock | null {
  createPrivateFile(path);
  const holder = new DatabaseSync(path, { timeout: waitMs });
  try {
    holder.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    holder.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => holder.close() };
}

/** Creates an empty file that only this user can read, regardless of the umask. Does not open an existing file. */
export function createPrivateFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return;
  try {
    const file = openSync(path, 'wx', 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}
