import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Adds an index, optionally partial, which Kysely's builder cannot express for both engines. */
export async function addIndex(
  db: Kysely<never>,
  name: string,
  table: string,
  columns: string[],
  options: { unique?: boolean; where?: ReturnType<typeof sql> } = {},
): Promise<void> {
  const unique = options.unique === true ? sql`unique ` : sql``;
  const where = options.where ? sql` where ${options.where}` : sql``;
  await sql`create ${unique}index ${sql.id(name)} on ${sql.table(table)} (${sql.join(columns.map((column) => sql.id(column)))})${where}`.execute(
    db,
  );
}
