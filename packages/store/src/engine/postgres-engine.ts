import { sql } from 'kysely';
import type { Dialect } from 'kysely';
import { PawlError, messageOf } from '@pawl/schema/error';
import { bordered } from '../border.ts';
import type { ColumnTypes, Engine } from './engine.ts';

/** Any number that is ours alone: the advisory lock under which migrations run. */
const migrationLock = 7_295_476;

const types: ColumnTypes = {
  key: sql`text collate "C"`,
  integer: sql`bigint`,
  blob: sql`bytea`,
  numbered: (column) => column.primaryKey().generatedAlwaysAsIdentity(),
  finish: (table) => table,
};

/** An engine on Postgres, over any Kysely dialect that speaks to it. */
export function postgresEngine(dialects: { writer: Dialect; reader: Dialect }): Engine {
  return {
    writer: bordered(dialects.writer, postgresFailureOf),
    reader: bordered(dialects.reader, postgresFailureOf),
    types,
    // The server has one kind of commit, which is durable.
    setDurability() {},
    lockMigrations: async (transaction) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
    },
    failureOf: postgresFailureOf,
  };
}

/** What an SQLSTATE means to the caller, or null when it is a mistake in the program. */
function postgresFailureOf(error: unknown): PawlError | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  if (error.code === '53100') {
    return new PawlError('unavailable', 'the disk is full', {
      hint: 'free some space on the database server; nothing was lost',
      cause: error,
    });
  }
  if (/^(08|53|57)/.test(error.code)) {
    return new PawlError('unavailable', `the database does not answer: ${messageOf(error)}`, {
      hint: 'check that the Postgres server runs and takes connections',
      cause: error,
    });
  }
  if (error.code.startsWith('23')) {
    return new PawlError('conflict', `this contradicts what is stored: ${messageOf(error)}`, {
      hint: 'look at what is there already, then choose another name or id',
      cause: error,
    });
  }
  return null;
}
