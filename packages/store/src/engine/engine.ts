import type { ColumnDefinitionBuilder, CreateTableBuilder, Dialect, Expression, Kysely } from 'kysely';
import type { PawlError } from '@pawl/schema/error';

export type Durability = 'machine' | 'process';

/** Column types that the engines spell differently. */
export type ColumnTypes = {
  /** An id, compared bytewise, so that a prefix is a range. */
  readonly key: Expression<unknown>;
  /** 64 bits. */
  readonly integer: Expression<unknown>;
  readonly blob: Expression<unknown>;
  /** Makes an integer column an auto-incremented primary key that never reuses numbers. */
  readonly numbered: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
  /** Table options, such as strict typing. */
  finish<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table>;
};

/**
 * The port that hides the differences between SQLite and Postgres; everything else in this package is written once.
 * Both dialects pass text through `encodeText` and turn database errors into a PawlError (see `bordered`).
 */
export type Engine = {
  /** Runs one transaction at a time, and takes the write lock when it begins. */
  readonly writer: Dialect;
  /** Sees committed rows only, even while a transaction is open. */
  readonly reader: Dialect;
  readonly types: ColumnTypes;
  /**
   * Sets, between transactions, whether the next commit must survive a power cut or only the death of this process. A
   * durable commit makes all earlier ones durable.
   */
  setDurability(durability: Durability): void;
  /** Called inside the migration's transaction: serialises programs that migrate the same database. */
  lockMigrations(transaction: Kysely<never>): Promise<void>;
  /** Translates an error of this database; null means a programming error. */
  failureOf(error: unknown): PawlError | null;
};
