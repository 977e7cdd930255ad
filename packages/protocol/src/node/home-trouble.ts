import { hasErrno, PawlError } from '@pawl/schema/error';
import { closeSync, openSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';

/** With less space than this a disk counts as full: the database alone needs more to start. */
const roomBytes = 1024 * 1024;

/** Refuses a home with a directory in place of a file of Pawl's, or the reverse. */
export function refuseMisplaced(home: Home): void {
  const files = [
    home.socket,
    home.daemonFile,
    home.token,
    home.config,
    home.programs,
    home.state,
    ...['pawl.lock', join('logs', 'daemon.log'), join('logs', 'daemon.out')].map((name) => join(home.root, name)),
  ];
  const directories = [
    home.root,
    home.logs,
    home.sessions,
    home.worktrees,
    home.repositories,
    home.trash,
    home.accounts,
    home.bin,
    home.agents,
    home.messages,
    home.mail,
    home.checks,
    home.door,
    ...['backups', 'quarantine'].map((name) => join(home.root, name)),
  ];
  for (const path of directories) if (kindOf(path) === 'other') throw misplaced(path, 'not a directory', 'a directory');
  for (const path of files) if (kindOf(path) === 'directory') throw misplaced(path, 'a directory', 'a file');
}

function kindOf(path: string): 'directory' | 'other' | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : found.isDirectory() ? 'directory' : 'other';
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'EACCES', 'ELOOP')) return null;
    throw error;
  }
}

function misplaced(path: string, is: string, belongs: string): PawlError {
  const word = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return new PawlError('conflict', `${path} is ${is}, but ${belongs} of Pawl belongs there.`, {
    hint: `Move it away: mv ${word(path)} ${word(`${path}.aside`)}; then run \`pawl up\`.`,
  });
}

/**
 * Explains a failure from an exhausted resource: a full disk, or too many open files; null for any other. SQLite does
 * not say which of the two it was, so both are checked.
 */
export function shortageOf(error: unknown, home: Home): PawlError | null {
  const isVague = error instanceof PawlError ? error.code === 'unavailable' : isSqlite(error);
  if (hasCause(error, 'EMFILE', 'ENFILE') || (isVague && !canOpen())) {
    return new PawlError('unavailable', 'Too many files are open (EMFILE): the limit of open files is reached.', {
      hint: 'Raise it in the shell that starts Pawl, or in a new one: `ulimit -n 1024`; then run `pawl down` and `pawl up`. Agents keep running meanwhile.',
      cause: error,
    });
  }
  if (hasCause(error, 'ENOSPC', 'EDQUOT') || (isVague && freeBytes(home.root) < roomBytes)) {
    return new PawlError('unavailable', `The disk that holds ${home.root} is full.`, {
      hint: 'Free some space there, then try again. Nothing was lost.',
      cause: error,
    });
  }
  return null;
}

function isSqlite(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

function hasCause(error: unknown, ...errnos: string[]): boolean {
  return (
    hasErrno(error, ...errnos) ||
    (error instanceof Error && error.cause !== undefined && hasCause(error.cause, ...errnos))
  );
}

function canOpen(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  }
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
