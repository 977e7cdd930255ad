/** Parses foreign text, such as a zod schema. */
type Parser<Value> = { parse(input: unknown): Value };

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type Column<Value> = Value extends string | number | null | undefined ? Value : string;

/** A record as columns: snake_case names, objects and arrays as JSON. */
export type ColumnsOf<Fields> = {
  [Name in keyof Fields as SnakeCase<Name & string>]: Column<Fields[Name]>;
};

/** The column of a field: `agentId` is in `agent_id`. */
export function columnName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Turns a record into columns. Skips undefined fields. */
export function toColumns<Fields extends object>(fields: Fields): ColumnsOf<Fields> {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    columns[columnName(name)] = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  }
  return columns as ColumnsOf<Fields>;
}

/** Reads an integer column. Postgres returns 64-bit integers as strings or bigints; ours stay below 2^53. */
export function integer(value: number | string | bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`not a safe integer: ${value}`);
  return number;
}

/** Reads an integer column that may be null. */
export function nullableInteger(value: number | string | bigint | null): number | null {
  return value === null ? null : integer(value);
}

/** Parses a JSON column with a schema. */
export function json<Value>(schema: Parser<Value>, text: string): Value {
  return schema.parse(JSON.parse(text));
}

/** Reads a JSON column that may be null. */
export function nullableJson<Value>(schema: Parser<Value>, text: string | null): Value | null {
  return text === null ? null : json(schema, text);
}
