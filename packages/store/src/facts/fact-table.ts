import type { Kysely } from 'kysely';
import { hotQuery } from '../engine/hot-query.ts';
import { columnName } from '../row.ts';
import type { Database } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';
import type { Stored } from './fact-column.ts';
import type { FactTableName } from './fact-tables.ts';

/** The columns of a table by field; a field `agentId` is in the column `agent_id`. */
type Columns = Readonly<Record<string, { read(stored: Stored): unknown; write(value: never): string | number | null }>>;
type Fact<Given extends Columns> = { [Name in keyof Given]: ReturnType<Given[Name]['read']> };

/** One kind of fact. */
export type FactTable<Value, Key> = {
  get(db: Database, key: Key): Promise<Value | null>;
  /** Every fact of this kind, by key. */
  all(db: Database): Promise<Value[]>;
  /** Adds a fact, or replaces the one with the same key. */
  set(tx: WriteTransaction, fact: Value): Promise<void>;
  delete(tx: WriteTransaction, key: Key): Promise<void>;
  /** Deletes facts that were last set before a time. */
  deleteBefore(tx: WriteTransaction, time: number): Promise<void>;
};

/** A fact of a table. */
export type FactOf<Table> = Table extends FactTable<infer Value, never> ? Value : never;

/** Any table: Kysely's types know no columns that are declared elsewhere. */
type AnyTable = Kysely<Record<string, Record<string, Stored>>>;

/** Reads and writes the facts of one table, which a migration has created with `updated_at` beside these columns. */
export function factTable<Given extends Columns, Key extends keyof Given & string>(
  name: FactTableName,
  key: readonly Key[],
  columns: Given,
): FactTable<Fact<Given>, Pick<Fact<Given>, Key>> {
  type Value = Fact<Given>;
  const keyColumns = key.map(columnName);

  const open = (db: Database) => db as unknown as AnyTable;
  const stored = (field: string, value: unknown): Stored => columns[field]?.write(value as never) ?? null;
  const keyOf = (fact: Pick<Value, Key>) => key.map((field) => stored(field, fact[field]));
  const read = (row: Record<string, Stored>) =>
    Object.fromEntries(
      Object.entries(columns).map(([field, column]) => [field, column.read(row[columnName(field)] ?? null)]),
    ) as Value;

  const example = keyColumns.map((_, index): Stored => String(index));
  const select = hotQuery<readonly Stored[], Record<string, Stored>>(example, (db, values) =>
    keyColumns.reduce(
      (query, column, index) => query.where(column, '=', values[index] ?? null),
      open(db).selectFrom(name).selectAll(),
    ),
  );

  return {
    async get(db, key) {
      const [row] = (await select(db, keyOf(key))).rows;
      return row === undefined ? null : read(row);
    },
    async all(db) {
      const rows = open(db).selectFrom(name).selectAll();
      const ordered = keyColumns.reduce((query, column) => query.orderBy(column), rows);
      return (await ordered.execute()).map(read);
    },
    async set(tx, fact) {
      const fields = Object.keys(columns).map((field) => [columnName(field), stored(field, fact[field])]);
      const row = { ...(Object.fromEntries(fields) as Record<string, Stored>), updated_at: tx.now };
      await open(tx.db)
        .insertInto(name)
        .values(row)
        .onConflict((conflict) => conflict.columns(keyColumns).doUpdateSet(row))
        .execute();
    },
    async delete(tx, key) {
      const values = keyOf(key);
      await keyColumns
        .reduce((query, column, index) => query.where(column, '=', values[index] ?? null), open(tx.db).deleteFrom(name))
        .execute();
    },
    async deleteBefore(tx, time) {
      await open(tx.db).deleteFrom(name).where('updated_at', '<', time).execute();
    },
  };
}
