import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect } from 'kysely';
import type { Engine } from '@pawl/store/engine/engine';
import { postgresEngine } from '@pawl/store/engine/postgres-engine';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { giveDatabase } from '@pawl/testing/home-database';
import { openStore } from '@pawl/store/store';
import type { Store, StoreOptions } from '@pawl/store/store';
import { onTestFinished } from 'vitest';
import { fixedClock, temporaryDirectory } from '../fixture.ts';

/** One engine of the contract suite. */
export type EngineUnderTest = {
  readonly name: string;
  /** Prepares the engine, once for the whole suite. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A database for this test, without tables. Calling the result again gives another engine on the same one. */
  emptyDatabase(): Promise<() => Engine>;
  /** A database for this test without rows, possibly with tables. */
  freshDatabase(): Promise<() => Engine>;
};

const sqlite: EngineUnderTest = {
  name: 'sqlite',
  async start() {},
  async stop() {},
  async emptyDatabase() {
    const path = join(temporaryDirectory(), 'test.db');
    return () => sqliteEngine(path);
  },
  async freshDatabase() {
    const directory = temporaryDirectory();
    await giveDatabase(directory);
    return () => sqliteEngine(join(directory, 'pawl.db'));
  },
};

/** Truncates tables that have rows, and restarts sequences that were used: most are neither, and truncating takes a millisecond. */
const clearTables = `
do $$
declare
  found text;
  has_rows boolean;
begin
  for found in select tablename from pg_tables where schemaname = 'public' and tablename not in ('migrations', 'counters') loop
    execute format('select exists (select from %I)', found) into has_rows;
    if has_rows then execute format('truncate %I cascade', found); end if;
  end loop;
  for found in select sequencename from pg_sequences where schemaname = 'public' and last_value is not null loop
    execute format('alter sequence %I restart', found);
  end loop;
  update counters set value = 0;
end $$`;

/** Opening PGlite takes seconds, so the suite shares one and clears it before each test. */
let shared: PGlite | null = null;

const postgres: EngineUnderTest = {
  name: 'postgres',
  async start() {
    shared = await PGlite.create();
  },
  async stop() {
    await shared?.close();
  },
  async emptyDatabase() {
    await shared?.exec('drop schema public cascade; create schema public');
    return sharedEngine;
  },
  async freshDatabase() {
    const result = await shared?.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('migrations', 'counters')`,
    );
    const tables = result?.rows.map((row) => row.name) ?? [];
    if (!tables.includes('events') || tables.includes('next')) return postgres.emptyDatabase();
    await shared?.exec(clearTables);
    return sharedEngine;
  },
};

export const engines: readonly EngineUnderTest[] = [sqlite, postgres];

/** Opens an empty store and closes it when the test ends. */
export async function openFresh(engine: EngineUnderTest, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openAgain(await engine.freshDatabase(), options);
}

/** Opens a store on an existing database, and closes it when the test ends. */
export async function openAgain(database: () => Engine, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore(database(), { clock: fixedClock, ...options });
  onTestFinished(() => store.close());
  return store;
}

function sharedEngine(): Engine {
  assert(shared);
  return postgresEngine({ writer: dialectOf(shared), reader: dialectOf(shared) });
}

/** The dialect closes its client, but this Postgres stays open for the next test. */
function dialectOf(postgres: PGlite): PGliteDialect {
  return new PGliteDialect({
    pglite: {
      query: (text, values, options) => postgres.query(text, values, options),
      transaction: (work) => postgres.transaction((transaction) => work(transaction)),
      close: async () => {},
      closed: false,
      ready: true,
      waitReady: Promise.resolve(),
    },
  });
}
