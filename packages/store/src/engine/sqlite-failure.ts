import { PawlError, messageOf } from '@pawl/schema/error';

const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;

/** SQLite's primary result code, or null for any other error. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/** True if SQLite reports that the file itself is broken; a retry cannot help. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error instanceof PawlError ? error.cause : error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** True if another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY;
}

/** Translates an SQLite error; null means a programming error. */
export function sqliteFailureOf(error: unknown): PawlError | null {
  switch (sqliteCode(error)) {
    case FULL:
      return unavailable(error, 'The disk is full.', 'Free some space; nothing was lost and no restart is needed.');
    case IO_ERROR:
    case CANNOT_OPEN:
    case READ_ONLY:
      return unavailable(
        error,
        'The disk refuses to write.',
        'Check the space and health of the disk that holds PAWL_HOME.',
      );
    case BUSY:
      return unavailable(error, 'The database is locked.', 'End the other program that has it open, then try again.');
    case CONSTRAINT:
      return new PawlError('conflict', `This conflicts with stored data: ${messageOf(error)}`, {
        hint: 'Look at what exists, then choose another name or id.',
        cause: error,
      });
    case CORRUPT:
    case NOT_A_DATABASE:
      return new PawlError('store_failed', `The database is damaged: ${messageOf(error)}`, {
        hint: 'Restart the daemon: it moves the damaged file aside and restores the last backup.',
        cause: error,
      });
    default:
      return null;
  }
}

function unavailable(cause: unknown, message: string, hint: string): PawlError {
  return new PawlError('unavailable', message, { hint, cause, details: { sqlite: messageOf(cause) } });
}
