import { Kysely, sql } from 'kysely';
import type { Engine } from '@pawl/store/engine/engine';
import { appliedMigrations } from '@pawl/store/engine/migrate';
import { allMigrations } from '@pawl/store/migrations/all-migrations';
import { openStore } from '@pawl/store/store';
import type { Tables } from '@pawl/store/tables';
import { expect, test } from 'vitest';
import { emitStopped, fixedClock } from '../fixture.ts';
import { openAgain } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

const next = {
  name: '9000-next',
  up: async (db: Kysely<never>) => {
    await sql`create table next (id text)`.execute(db);
  },
};

/** The contract of migrations, on every engine. */
export function migrationsContract(engine: EngineUnderTest): void {
  test('run once, and keep existing rows', async () => {
    const database = await engine.emptyDatabase();
    const first = await openAgain(database);
    await first.write(async (tx) => emitStopped(tx, 'one'));
    await first.close();
    const second = await openAgain(database, { migrations: [...allMigrations, next] });
    expect(second.lastSeq()).toBe(1);
    await second.write(async (tx) => emitStopped(tx, 'two'));
    expect(second.lastSeq()).toBe(2);
    expect(await appliedMigrations(second.db)).toEqual([...allMigrations, next].map(({ name }) => name));
  });

  test('a database of a newer program is refused and unchanged', async () => {
    const database = await engine.emptyDatabase();
    await (await openAgain(database, { migrations: [...allMigrations, next] })).close();
    const refused = openStore(database(), { clock: fixedClock });
    await expect(refused).rejects.toMatchObject({ code: 'store_too_new', hint: expect.stringContaining('newer') });
    await (await openAgain(database, { migrations: [...allMigrations, next] })).close();
  });

  test('a failed one leaves no trace and can be retried', async () => {
    const database = await engine.emptyDatabase();
    const failing = {
      name: next.name,
      up: async (db: Kysely<never>) => {
        await next.up(db);
        throw new Error('half-way');
      },
    };
    const failed = openStore(database(), { clock: fixedClock, migrations: [...allMigrations, failing] });
    await expect(failed).rejects.toThrow('half-way');
    expect(await tablesOf(database)).not.toContain('next');
    await openAgain(database, { migrations: [...allMigrations, next] });
    expect(await tablesOf(database)).toContain('next');
  });
}

async function tablesOf(database: () => Engine): Promise<string[]> {
  const db = new Kysely<Tables>({ dialect: database().reader });
  try {
    return (await db.introspection.getTables()).map((table) => table.name);
  } finally {
    await db.destroy();
  }
}
