import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@pawl/schema/error';
import { refuseNewer } from '../engine/migrate.ts';
import { allMigrations } from '../migrations/all-migrations.ts';
import { isDamage, sqliteFailureOf } from '../engine/sqlite-failure.ts';
import { storeLimits } from '../store-limit.ts';

const headerText = 'SQLite format 3\0';

/**
 * Describes the damage of a database file, or null if it is sound. Throws for a file from a newer program and for a
 * failing disk: neither is damage. Only for a file that nothing else in this process has open.
 */
export function damageOf(path: string, options: { mayBeEmpty: boolean }): string | null {
  // SQLite discards the log of such a file when it opens it.
  if (!hasHeader(path)) return 'the file is not a database';
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: storeLimits.busyMs });
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on');
    const tables = tablesOf(database);
    if (tables.includes('migrations')) refuseNewer(migrationsOf(database));
    return (
      missingTables(tables, options.mayBeEmpty) ?? truncation(database, path) ?? brokenPages(database, path, tables)
    );
  } catch (error) {
    if (isDamage(error)) return messageOf(error);
    throw sqliteFailureOf(error) ?? error;
  } finally {
    database?.close();
  }
}

function hasHeader(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(headerText.length);
    readSync(file, header, 0, header.length, 0);
    return header.toString('latin1') === headerText;
  } finally {
    closeSync(file);
  }
}

/** The first tables are created in one transaction, so a new database has all of them or none. */
function missingTables(tables: string[], mayBeEmpty: boolean): string | null {
  if (tables.length === 0 && mayBeEmpty) return null;
  return tables.includes('events') && tables.includes('counters') ? null : 'tables are missing';
}

/** Writes back the log first: until then the file may legitimately be shorter than the database. */
function truncation(database: DatabaseSync, path: string): string | null {
  database.exec('pragma wal_checkpoint(truncate)');
  const pages = pragmaNumber(database, 'page_count');
  const bytes = pages * pragmaNumber(database, 'page_size');
  return statSync(path).size < bytes ? 'the file is truncated' : null;
}

/**
 * Checks all of a small file; of a large one, all but the chunks, which would take minutes and can be read again from
 * files.
 */
function brokenPages(database: DatabaseSync, path: string, tables: string[]): string | null {
  if (statSync(path).size <= storeLimits.wholeCheckBytes) return quickCheck(database, '');
  for (const table of tables) {
    const broken = table === 'chunks' ? null : quickCheck(database, `("${table.replaceAll('"', '""')}")`);
    if (broken !== null) return broken;
  }
  return null;
}

function quickCheck(database: DatabaseSync, scope: string): string | null {
  const rows = database.prepare(`pragma quick_check${scope}`).all();
  const text = rows.map((row) => String(row['quick_check'])).join('; ');
  return text === 'ok' ? null : text.slice(0, 500);
}

/** True if the database is not empty and has pending migrations. */
export function needsMigration(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: storeLimits.busyMs });
  try {
    const applied = tablesOf(database).includes('migrations') ? migrationsOf(database) : [];
    return applied.length > 0 && applied.length < allMigrations.length;
  } finally {
    database.close();
  }
}

function tablesOf(database: DatabaseSync): string[] {
  const rows = database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
    .all();
  return rows.map((row) => String(row['name']));
}

function migrationsOf(database: DatabaseSync): string[] {
  const rows = database.prepare('select name from migrations order by name').all();
  return rows.map((row) => String(row['name']));
}

function pragmaNumber(database: DatabaseSync, name: 'page_count' | 'page_size'): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name]);
}
