import { integer as readInteger, json as readJson } from '../row.ts';

/** A value as the drivers return it: Postgres has 64-bit integers as strings or bigints. */
export type Stored = string | number | bigint | null;

/** Stores a field of a fact in a column, and reads it back. */
export type FactColumn<Value> = {
  read(stored: Stored): Value;
  write(value: Value): string | number | null;
};

export const text: FactColumn<string> = { read: (stored) => String(present(stored)), write: (value) => value };

export const integer: FactColumn<number> = {
  read: (stored) => readInteger(present(stored)),
  write: (value) => value,
};

export const flag: FactColumn<boolean> = {
  read: (stored) => readInteger(present(stored)) === 1,
  write: (value) => (value ? 1 : 0),
};

/** A value that may be missing. */
export function nullable<Value>(column: FactColumn<Value>): FactColumn<Value | null> {
  return {
    read: (stored) => (stored === null ? null : column.read(stored)),
    write: (value) => (value === null ? null : column.write(value)),
  };
}

/** JSON as text. A value that the schema refuses is an error, unless the schema has a substitute for it. */
export function json<Value>(schema: { parse(input: unknown): Value }): FactColumn<Value> {
  return { read: (stored) => readJson(schema, String(present(stored))), write: (value) => JSON.stringify(value) };
}

function present(stored: Stored): NonNullable<Stored> {
  if (stored === null) throw new TypeError('a column of a fact is null');
  return stored;
}
