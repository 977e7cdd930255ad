import { PawlError, messageOf } from '@pawl/schema/error';

const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;

/** The primary result code of an error that SQLite raised, or null for any other error. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/** True when SQLite says that the file itself is broken, which no retry mends. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error instanceof PawlError ? error.cause : error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/** True when another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY;
}

/** What an error of SQLite means to the caller, or null when it is a mistake in the program. */
export function sqliteFailureOf(error: unknown): PawlError | null {
  switch (sqliteCode(error)) {
    case FULL:
      return unavailable(error, 'the disk is full', 'free some space; nothing was lost and no restart is needed');
    case IO_ERROR:
    case CANNOT_OPEN:
    case READ_ONLY:
      return unavailable(
        error,
        'the disk refuses to write',
        'check the space and health of the disk that holds PAWL_HOME',
      );
    case BUSY:
      return unavailable(error, 'the database is locked', 'end the other program that has it open, then try again');
    case CONSTRAINT:
      return new PawlError('conflict', `this contradicts what is stored: ${messageOf(error)}`, {
        hint: 'look at what is there already, then choose another name or id',
        cause: error,
      });
    case CORRUPT:
    case NOT_A_DATABASE:
      return new PawlError('store_failed', `the database is damaged: ${messageOf(error)}`, {
        hint: 'start the daemon again: it moves the damaged file aside and restores the last backup',
        cause: error,
      });
    default:
      return null;
  }
}

function unavailable(cause: unknown, message: string, hint: string): PawlError {
  return new PawlError('unavailable', message, { hint, cause, details: { sqlite: messageOf(cause) } });
}
