import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Engine } from './engine.ts';
import { allMigrations } from '../migrations/all-migrations.ts';
import type { Migration } from '../migrations/migration.ts';
import type { Database } from '../tables.ts';
import type { Kysely } from 'kysely';

/** The names of applied migrations; empty if there is no table. */
export async function appliedMigrations(db: Database): Promise<string[]> {
  const tables = await db.introspection.getTables();
  return tables.some((table) => table.name === 'migrations') ? recordedMigrations(db) : [];
}

/** The same for a database with the table: introspection takes most of a migration's time. */
async function recordedMigrations(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('migrations').select('name').orderBy('name').execute();
  return rows.map((row) => row.name);
}

/** Refuses a database migrated by a newer program. */
export function refuseNewer(applied: readonly string[], migrations: readonly Migration[] = allMigrations): void {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new PawlError('store_too_new', `The database was written by a newer pawl (it has ${unknown.join(', ')}).`, {
    hint: 'Install the newer pawl again; the database is unchanged.',
    details: { unknown },
  });
}

/** Applies pending migrations, one transaction each. There is no way back. */
export async function migrate(
  engine: Engine,
  writer: Database,
  options: { clock: () => number; migrations?: readonly Migration[] },
): Promise<void> {
  const migrations = options.migrations ?? allMigrations;
  const applied = await writer.transaction().execute((transaction) => appliedMigrations(transaction));
  refuseNewer(applied, migrations);
  if (migrations.every((migration) => applied.includes(migration.name))) return;
  for (const migration of migrations) {
    await writer.transaction().execute(async (transaction) => {
      await engine.lockMigrations(transaction as unknown as Kysely<never>);
      await recordTable(engine, transaction);
      const done = await recordedMigrations(transaction);
      refuseNewer(done, migrations);
      if (done.includes(migration.name)) return;
      await migration.up(transaction as unknown as Kysely<never>, engine.types);
      await transaction
        .insertInto('migrations')
        .values({ name: migration.name, applied_at: options.clock() })
        .execute();
      crashPoint('store.during_migration');
    });
  }
}

async function recordTable(engine: Engine, db: Database): Promise<void> {
  await engine.types
    .finish(db.schema.createTable('migrations').ifNotExists())
    .addColumn('name', engine.types.key, (column) => column.primaryKey())
    .addColumn('applied_at', engine.types.integer, (column) => column.notNull())
    .execute();
}
