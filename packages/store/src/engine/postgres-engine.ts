import { sql } from 'kysely';
import type { Dialect } from 'kysely';
import { PawlError, messageOf } from '@pawl/schema/error';
import { bordered } from '../border.ts';
import type { ColumnTypes, Engine } from './engine.ts';

/** The advisory lock under which migrations run: any number that is ours alone. */
const migrationLock = 7_295_476;

const types: ColumnTypes = {
  key: sql`text collate "C"`,
  integer: sql`bigint`,
  blob: sql`bytea`,
  numbered: (column) => column.primaryKey().generatedAlwaysAsIdentity(),
  finish: (table) => table,
};

/** A Postgres engine over any Kysely dialect for it. */
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

/** Translates an SQLSTATE; null means a programming error. */
function postgresFailureOf(error: unknown): PawlError | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  if (error.code === '53100') {
    return new PawlError('unavailable', 'The disk is full.', {
      hint: 'Free some space on the database server; nothing was lost.',
      cause: error,
    });
  }
  if (/^(08|53|57)/.test(error.code)) {
    return new PawlError('unavailable', `The database does not answer: ${messageOf(error)}`, {
      hint: 'Check that the Postgres server is running and accepts connections.',
      cause: error,
    });
  }
  if (error.code.startsWith('23')) {
    return new PawlError('conflict', `This conflicts with stored data: ${messageOf(error)}`, {
      hint: 'Look at what exists, then choose another name or id.',
      cause: error,
    });
  }
  return null;
}
