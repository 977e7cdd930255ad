import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { PawlError, hasErrno } from '@pawl/schema/error';
import { isDamage, sqliteFailureOf } from '../engine/sqlite-failure.ts';
import { storeLimits } from '../store-limit.ts';
import type { FileLock } from './file-lock.ts';
import { holdFileLock } from './file-lock.ts';

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

/** Makes this process the only daemon of the directory until it releases the lock or dies. */
export function lockDataDirectory(directory: DataDirectory): FileLock {
  const hold = () => holdFileLock(directory.lock, storeLimits.lockWaitMs);
  let lock: FileLock | null;
  try {
    lock = hold();
  } catch (error) {
    if (!isDamage(error)) throw sqliteFailureOf(error) ?? error;
    emptyLock(directory);
    lock = hold();
  }
  if (lock === null) throw alreadyRunning(directory);
  return lock;
}

/**
 * Empties a lock file with foreign content. The lock is free, or SQLite would have reported it before reading. The file
 * is not replaced, so that two daemons doing this at once lock the same file.
 */
function emptyLock(directory: DataDirectory): void {
  const aside = join(directory.quarantine, `pawl.lock-${Date.now()}-${process.pid}`);
  // Not `copyFileSync`, which never ends if another process empties the file meanwhile.
  writeFileSync(aside, readFileSync(directory.lock), { mode: 0o600 });
  truncateSync(directory.lock);
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
