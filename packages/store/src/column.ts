import type { ColumnType } from 'kysely';

/** A 64-bit integer: a number from SQLite, a string or bigint from Postgres drivers. `integer()` makes it a number. */
export type Integer = ColumnType<number | string | bigint, number, number>;
export type NullableInteger = ColumnType<number | string | bigint | null, number | null, number | null>;
/** Assigned by the database in insertion order. Listings sort by it, since clocks jump. */
export type Ordinal = ColumnType<number | string | bigint, never, never>;
/** JSON as text in both engines: round-trips any string and keeps key order. */
export type Json = string;
