import {
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PawlError, hasErrno } from '@pawl/schema/error';
import { isBusy, isDamage, sqliteFailureOf } from '../engine/sqlite-failure.ts';
import { storeLimits } from '../store-limit.ts';

/** Where the store keeps its files in PAWL_HOME. */
export type DataDirectory = {
  readonly path: string;
  readonly database: string;
  readonly backups: string;
  readonly quarantine: string;
  /** The plan of a recovery that is under way. */
  readonly recovery: string;
  readonly lock: string;
  /** Written by the daemon that holds the lock: says who it is. */
  readonly daemon: string;
};

/** Names the files of a data directory, without touching any. */
export function dataDirectory(path: string): DataDirectory {
  const root = resolve(path);
  return {
    path: root,
    database: join(root, 'pawl.db'),
    backups: join(root, 'backups'),
    quarantine: join(root, 'quarantine'),
    recovery: join(root, 'recovery.json'),
    lock: join(root, 'pawl.lock'),
    daemon: join(root, 'daemon.json'),
  };
}

/** Makes the directory private to this user, or refuses one that is not; it never changes what somebody else set up. */
export function openDataDirectory(path: string): DataDirectory {
  const directory = dataDirectory(path);
  try {
    mkdirSync(directory.path, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!hasErrno(error, 'EEXIST', 'ENOTDIR')) throw unusable(directory.path, 'cannot be created', error);
  }
  refuseUnsafe(directory.path, statSync(directory.path, { throwIfNoEntry: false }));
  for (const part of [directory.backups, directory.quarantine]) {
    mkdirSync(part, { recursive: true, mode: 0o700 });
    refuseUnsafe(part, statSync(part));
  }
  return directory;
}

/**
 * Makes this process the one daemon of the directory until it releases the lock or dies. The lock is the kernel's: it
 * leaves no stale file, a reused pid means nothing to it, and a frozen holder keeps it.
 *
 * The lock file is opened by SQLite only. Closing any other descriptor of it would drop the lock of this process.
 */
export function lockDataDirectory(directory: DataDirectory): { release(): void } {
  createPrivateFile(directory.lock);
  try {
    return holdLock(directory.lock);
  } catch (error) {
    if (isBusy(error)) throw alreadyRunning(directory);
    if (!isDamage(error)) throw sqliteFailureOf(error) ?? error;
  }
  // Somebody wrote into the file. Nobody holds it, or SQLite had said so before it read it; and it is emptied, not replaced, so that
  // of two daemons that come here at once both lock the same file.
  const aside = join(directory.quarantine, `pawl.lock-${Date.now()}-${process.pid}`);
  // Not `copyFileSync`, which never ends when the other one empties the file meanwhile.
  writeFileSync(aside, readFileSync(directory.lock), { mode: 0o600 });
  truncateSync(directory.lock);
  try {
    return holdLock(directory.lock);
  } catch (error) {
    throw isBusy(error) ? alreadyRunning(directory) : (sqliteFailureOf(error) ?? error);
  }
}

function holdLock(path: string): { release(): void } {
  const holder = new DatabaseSync(path, { timeout: storeLimits.lockWaitMs });
  try {
    holder.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    holder.close();
    throw error;
  }
  return { release: () => holder.close() };
}

/** Makes an empty file that only this user can read, whatever the umask. A file that exists is not even opened. */
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

function refuseUnsafe(path: string, stats: Stats | undefined): void {
  if (stats?.isDirectory() !== true) throw unusable(path, 'is not a directory');
  if (stats.uid !== process.getuid?.()) throw unusable(path, 'belongs to another user');
  if ((stats.mode & 0o077) === 0) return;
  throw new PawlError('forbidden', `${path} can be read or written by other users`, {
    hint: `make it private with: chmod 700 '${path}'`,
  });
}

function unusable(path: string, reason: string, cause?: unknown): PawlError {
  return new PawlError('forbidden', `${path} ${reason}`, { hint: 'set PAWL_HOME to a directory of your own', cause });
}

function alreadyRunning(directory: DataDirectory): PawlError {
  const pid = pidOfDaemon(directory.daemon);
  return new PawlError('already_running', `a daemon runs on ${directory.path} already${pid ? ` (pid ${pid})` : ''}`, {
    hint: 'use that one, or stop it with `pawl down`',
    details: { pid },
  });
}

/** The pid that the holder wrote down, when it can be read. It only informs: the lock alone decides. */
function pidOfDaemon(path: string): number | null {
  try {
    if (statSync(path).size > storeLimits.daemonFileBytes) return null;
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const pid = typeof content === 'object' && content !== null && 'pid' in content ? content.pid : null;
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? Number(pid) : null;
  } catch {
    return null;
  }
}
