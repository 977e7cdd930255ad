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

/** The store's files in PAWL_HOME. */
export type DataDirectory = {
  readonly path: string;
  readonly database: string;
  readonly backups: string;
  readonly quarantine: string;
  /** The plan of a recovery in progress. */
  readonly recovery: string;
  readonly lock: string;
  /** Written by the daemon that holds the lock; identifies it. */
  readonly daemon: string;
};

/** Names the files of a data directory, without touching them. */
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

/** Creates the directory, private to this user, or refuses one that is not; never changes an existing one. */
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
 * Makes this process the only daemon of the directory until it releases the lock or dies. It is a kernel lock: it
 * leaves no stale file, is independent of pids, and a frozen holder keeps it.
 * Only SQLite opens the lock file. Closing any other descriptor of it would drop this process's lock.
 */
export function lockDataDirectory(directory: DataDirectory): { release(): void } {
  createPrivateFile(directory.lock);
  try {
    return holdLock(directory.lock);
  } catch (error) {
    if (isBusy(error)) throw alreadyRunning(directory);
    if (!isDamage(error)) throw sqliteFailureOf(error) ?? error;
  }
  // The file has foreign content. Nobody holds the lock, or SQLite would have said so before reading. Empty the file
  // instead of replacing it, so that two daemons doing this at once lock the same file.
  const aside = join(directory.quarantine, `pawl.lock-${Date.now()}-${process.pid}`);
  // Not `copyFileSync`, which never ends if another process empties the file meanwhile.
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

function refuseUnsafe(path: string, stats: Stats | undefined): void {
  if (stats?.isDirectory() !== true) throw unusable(path, 'is not a directory');
  if (stats.uid !== process.getuid?.()) throw unusable(path, 'belongs to another user');
  if ((stats.mode & 0o077) === 0) return;
  throw new PawlError('forbidden', `${path} can be read or written by other users.`, {
    hint: `Make it private with: chmod 700 '${path}'`,
  });
}

function unusable(path: string, reason: string, cause?: unknown): PawlError {
  return new PawlError('forbidden', `${path} ${reason}.`, { hint: 'Set PAWL_HOME to a directory of your own.', cause });
}

function alreadyRunning(directory: DataDirectory): PawlError {
  const pid = pidOfDaemon(directory.daemon);
  return new PawlError(
    'already_running',
    `A daemon is already running on ${directory.path}${pid ? ` (pid ${pid})` : ''}.`,
    {
      hint: 'Use that one, or stop it with `pawl down`.',
      details: { pid },
    },
  );
}

/** The pid that the holder recorded, if readable. For information only: the lock decides. */
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
