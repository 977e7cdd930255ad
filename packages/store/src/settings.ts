import { hotQuery } from './engine/hot-query.ts';
import type { Database } from './tables.ts';
import type { WriteTransaction } from './write-transaction.ts';

const selectSetting = hotQuery<[key: string], { value: string }>(['1'], (db, [key]) =>
  db.selectFrom('settings').select('value').where('key', '=', key),
);

/** The value of a setting, for the caller to parse; undefined if never set. */
export async function getSetting(db: Database, key: string): Promise<unknown> {
  const [row] = (await selectSetting(db, [key])).rows;
  return row ? (JSON.parse(row.value) as unknown) : undefined;
}

/** The values of all settings with this key prefix, for the caller to parse. */
export async function settingsWith(db: Database, prefix: string): Promise<unknown[]> {
  const rows = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '>=', prefix)
    .where('key', '<', `${prefix}~`)
    .orderBy('key')
    .execute();
  return rows.map((row) => JSON.parse(row.value) as unknown);
}

/** Stores any JSON value. */
export async function setSetting(tx: WriteTransaction, key: string, value: unknown): Promise<void> {
  const columns = { value: JSON.stringify(value ?? null), updated_at: tx.now };
  await tx.db
    .insertInto('settings')
    .values({ key, ...columns })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(columns))
    .execute();
}

/** Removes settings with this key prefix that were set before a time. */
export async function forgetSettings(tx: WriteTransaction, prefix: string, before: number): Promise<void> {
  await tx.db
    .deleteFrom('settings')
    .where('key', '>=', prefix)
    .where('key', '<', `${prefix}~`)
    .where('updated_at', '<', before)
    .execute();
}
