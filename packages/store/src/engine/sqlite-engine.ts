import { DatabaseSync } from 'node:sqlite';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import type { Dialect, Kysely } from 'kysely';
import { bordered } from '../border.ts';
import type { ColumnTypes, Engine } from './engine.ts';
import { SqliteDriver } from './sqlite-driver.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { storeLimits } from '../store-limit.ts';

const types: ColumnTypes = {
  key: sql`text`,
  integer: sql`integer`,
  blob: sql`blob`,
  numbered: (column) => column.primaryKey().autoIncrement(),
  finish: (table) => table.modifyEnd(sql`strict`),
};

/** An engine on one SQLite file, with one connection for writing and one for reading committed rows. */
export function sqliteEngine(path: string): Engine {
  const writer = new SqliteDriver(() => openWriter(path), { writes: true });
  return {
    writer: bordered(dialectOf(writer), sqliteFailureOf),
    reader: bordered(dialectOf(new SqliteDriver(() => openReader(path), { writes: false })), sqliteFailureOf),
    types,
    setDurability: (durability) => writer.exec(`pragma synchronous = ${durability === 'machine' ? 'full' : 'normal'}`),
    // `begin immediate` already took the lock.
    lockMigrations: async () => {},
    failureOf: sqliteFailureOf,
  };
}

function dialectOf(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
    createDriver: () => driver,
  };
}

function openWriter(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: storeLimits.busyMs, enableForeignKeyConstraints: true });
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma journal_size_limit = ${storeLimits.walBytes};
    pragma trusted_schema = off;
    pragma cell_size_check = on;
  `);
  return database;
}

function openReader(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: storeLimits.busyMs, readOnly: true });
  database.exec('pragma trusted_schema = off; pragma cell_size_check = on;');
  return database;
}
