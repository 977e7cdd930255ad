import { allMigrations } from '@pawl/store/migrations/all-migrations';
import type { Store } from '@pawl/store/store';
import { sql } from 'kysely';
import { openAgain } from './contract/engines.ts';
import type { EngineUnderTest } from './contract/engines.ts';

/** The migrations of the releases that kept facts in rows of `settings`. */
const settingsMigrations = allMigrations.filter(({ name }) => name < '0017');

/** When the row with this index was written. */
export const writtenAt = (index: number): number => 1_000 + index;

/** Adds rows to the table `settings` of an earlier release. */
async function addSettings(store: Store, settings: Record<string, unknown>): Promise<void> {
  await store.write(async ({ db }) => {
    for (const [index, [key, value]] of Object.entries(settings).entries()) {
      await sql`insert into settings (key, value, updated_at)
        values (${key}, ${JSON.stringify(value)}, ${writtenAt(index)})`.execute(db);
    }
  });
}

/** Opens a database of an earlier release with these settings, upgraded. */
export async function upgradedStore(engine: EngineUnderTest, settings: Record<string, unknown>): Promise<Store> {
  const database = await engine.emptyDatabase();
  const before = await openAgain(database, { migrations: settingsMigrations });
  await addSettings(before, settings);
  await before.close();
  return openAgain(database);
}
