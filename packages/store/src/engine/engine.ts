import type { ColumnDefinitionBuilder, CreateTableBuilder, Dialect, Expression, Kysely } from 'kysely';
import type { PawlError } from '@pawl/schema/error';

export type Durability = 'machine' | 'process';

/** The column types that the engines spell differently. */
export type ColumnTypes = {
  /** An id, compared byte by byte, so that a range of ids is a prefix. */
  readonly key: Expression<unknown>;
  /** 64 bits. */
  readonly integer: Expression<unknown>;
  readonly blob: Expression<unknown>;
  /** Makes an integer column the primary key that the database numbers, never giving a number twice. */
  readonly numbered: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
  /** What every table ends with, such as strict typing. */
  finish<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table>;
};

/**
 * The port that hides the difference between SQLite and Postgres. Everything else in this package is written once.
 * Both dialects pass text through `encodeText` and turn what the database throws into a PawlError (see `bordered`).
 */
export type Engine = {
  /** Runs one transaction at a time, and takes the write lock when it begins. */
  readonly writer: Dialect;
  /** Sees committed rows only, also while a transaction is open. */
  readonly reader: Dialect;
  readonly types: ColumnTypes;
  /**
   * Says, between two transactions, whether the next commit has to survive a power cut or only this process. A later commit that
   * has to takes all earlier ones with it.
   */
  setDurability(durability: Durability): void;
  /** Called inside the transaction of a migration: programs that migrate the same database go one after the other. */
  lockMigrations(transaction: Kysely<never>): Promise<void>;
  /** What an error of this database means, or null when it is a mistake in the program. */
  failureOf(error: unknown): PawlError | null;
};
