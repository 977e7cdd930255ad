import { PawlError } from '@pawl/schema/error';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../engine/engine.ts';
import { factKinds } from '../facts/fact-kinds.ts';
import type { ColumnType, FactKind } from '../facts/fact-kinds.ts';
import type { Migration } from './migration.ts';

type Cell = string | number | null;
type Setting = { key: string; value: string; updated_at: number | string | bigint };

/**
 * Replaces `settings`, which had a row of JSON for every fact, by a table for each kind. Rows that no kind recognises go
 * to `unknown_settings`, which exists only if there are any: nothing reads it, and nothing is lost.
 */
export const typedFacts: Migration = {
  name: '0018-typed-facts',
  async up(db, types) {
    for (const kind of factKinds) await createTable(db, types, kind);
    const { rows } = await sql<Setting>`select key, value, updated_at from settings`.execute(db);
    const unknown: Setting[] = [];
    for (const setting of rows) if (!(await move(db, setting))) unknown.push(setting);
    if (unknown.length > 0) await keepUnknown(db, types, unknown);
    await db.schema.dropTable('settings').execute();
  },
};

async function createTable(db: Kysely<never>, types: ColumnTypes, { table, key, columns }: FactKind): Promise<void> {
  let builder = types.finish(db.schema.createTable(table));
  for (const name of key) builder = builder.addColumn(name, types.key, (column) => column.notNull());
  for (const [name, type] of Object.entries(columns)) {
    const isNumber = type.startsWith('integer') || type === 'flag';
    builder = builder.addColumn(name, isNumber ? types.integer : 'text', (column) =>
      type.endsWith('?') ? column : column.notNull(),
    );
  }
  await builder
    .addColumn('updated_at', types.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint(`${table}_key`, key as never[])
    .execute();
}

/** Moves a row to the table of its kind; false if there is none, or its value is not of that kind. */
async function move(db: Kysely<never>, { key, value, updated_at }: Setting): Promise<boolean> {
  const kind = factKinds.find(({ prefix }) => key.startsWith(prefix));
  if (kind === undefined) return false;
  const parsed: unknown = JSON.parse(value);
  // A default that was taken back.
  if (parsed === null) return true;
  const cells = cellsOf(kind, key.slice(kind.prefix.length), parsed);
  if (cells === null && kind.isIntent === true) {
    throw new PawlError('store_failed', `The database has a record of unfinished work that cannot be read: ${key}.`, {
      hint: 'Nothing was lost. To give the work up, delete this row of the table `settings` in pawl.db.',
    });
  }
  if (cells === null) return false;
  const row = { ...cells, updated_at: Number(updated_at) };
  const names = Object.keys(row).map((name) => sql.id(name));
  await sql`insert into ${sql.table(kind.table)} (${sql.join(names)})
    values (${sql.join(Object.values(row))})`.execute(db);
  return true;
}

/** The cells of a row in the table of its kind; null if the value is not of that kind. */
function cellsOf(kind: FactKind, rest: string, value: unknown): Record<string, Cell> | null {
  const parts = kind.key.length === 1 ? [rest] : rest.split(':');
  const fields = kind.fields === undefined ? value : kind.fields(value);
  if (parts.length !== kind.key.length || typeof fields !== 'object' || fields === null) return null;
  const cells: Record<string, Cell> = {};
  for (const [index, name] of kind.key.entries()) cells[name] = parts[index] ?? '';
  for (const [name, type] of Object.entries(kind.columns)) {
    const field = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const cell = cellOf(type, (fields as Record<string, unknown>)[field]);
    if (cell === undefined) return null;
    cells[name] = cell;
  }
  return cells;
}

/** A value as stored in a column; undefined if it is of another type. */
function cellOf(type: ColumnType, value: unknown): Cell | undefined {
  if (value === null && type.endsWith('?')) return null;
  if (type.startsWith('json')) return value === undefined ? undefined : JSON.stringify(value);
  if (type === 'flag') return typeof value === 'boolean' ? Number(value) : undefined;
  if (type.startsWith('integer')) return Number.isSafeInteger(value) ? (value as number) : undefined;
  return typeof value === 'string' ? value : undefined;
}

async function keepUnknown(db: Kysely<never>, types: ColumnTypes, settings: readonly Setting[]): Promise<void> {
  await types
    .finish(db.schema.createTable('unknown_settings'))
    .addColumn('key', types.key, (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('updated_at', types.integer, (column) => column.notNull())
    .execute();
  for (const { key, value, updated_at } of settings) {
    await sql`insert into unknown_settings (key, value, updated_at)
      values (${key}, ${value}, ${Number(updated_at)})`.execute(db);
  }
}
