import type { Engine } from '@pawl/store/engine/engine';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import type { Store } from '@pawl/store/store';
import { sql } from 'kysely';
import { openAgain } from './contract/engines.ts';
import type { EngineUnderTest } from './contract/engines.ts';

/** The migrations of the releases that kept facts in rows of `settings`. */
const oldMigrations = allMigrations.filter(({ name }) => name < '0017');

/** When the setting with this index was written. */
export const writtenAt = (index: number): number => 1_000 + index;

/** Opens a database as an earlier release did, and adds settings to it. */
export async function openOldStore(
  engine: EngineUnderTest,
  settings: Record<string, unknown>,
): Promise<{ database: () => Engine; store: Store }> {
  const database = await engine.emptyDatabase();
  const store = await openAgain(database, { migrations: oldMigrations });
  await store.write(async ({ db }) => {
    for (const [index, [key, value]] of Object.entries(settings).entries()) {
      await sql`insert into settings (key, value, updated_at)
        values (${key}, ${JSON.stringify(value)}, ${writtenAt(index)})`.execute(db);
    }
  });
  return { database, store };
}

/** Opens a database of an earlier release with these settings, upgraded. */
export async function upgradedStore(engine: EngineUnderTest, settings: Record<string, unknown>): Promise<Store> {
  const { database, store } = await openOldStore(engine, settings);
  await store.close();
  return openAgain(database);
}
