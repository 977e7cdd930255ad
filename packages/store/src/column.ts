import type { ColumnType } from 'kysely';

/** A 64-bit integer: SQLite reads it as a number, Postgres drivers as a string or a bigint. `integer()` makes it a number. */
export type Integer = ColumnType<number | string | bigint, number, number>;
export type NullableInteger = ColumnType<number | string | bigint | null, number | null, number | null>;
/** Assigned by the database, rising in the order of insertion: what listings are ordered by, since clocks jump. */
export type Ordinal = ColumnType<number | string | bigint, never, never>;
/** JSON as text, in both engines: it round-trips any string and keeps the order of keys. */
export type Json = string;
