import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import type { Store } from '@pawl/store/store';
import type { Database, Tables } from '@pawl/store/tables';
import { expect } from 'vitest';
import { fixedClock, temporaryDirectory } from './fixture.ts';

/** A query, and the steps of SQLite's plan. A step that names a table or index but no `(…=?)` is a full scan. */
export type Question = { name: string; ask: (db: Database) => Promise<unknown>; plan: string[] };

/** Creates a database for this test and returns its path. */
export async function databasePath(fill: (store: Store) => Promise<unknown>): Promise<string> {
  const directory = openDataDirectory(temporaryDirectory());
  const store = await openDatabase(directory, { clock: fixedClock });
  await fill(store);
  await store.close();
  return directory.database;
}

/** Runs every query and compares the plans of all its statements. */
export async function expectPlans(path: string, questions: Question[]): Promise<void> {
  for (const { name, ask, plan } of questions) {
    const asked: CompiledQuery[] = [];
    const db = new Kysely<Tables>({ dialect: sqliteEngine(path).reader, log: (event) => void asked.push(event.query) });
    await ask(db);
    await db.destroy();
    expect(
      asked.flatMap((query) => planOf(path, query)),
      name,
    ).toEqual(plan);
  }
}

function planOf(path: string, query: CompiledQuery): string[] {
  const database = new DatabaseSync(path);
  try {
    const steps = database.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as SQLInputValue[]));
    return steps.flatMap((step) => {
      const detail = String(step['detail']);
      if (detail.startsWith('USE TEMP B-TREE')) return ['sort'];
      return /^(?:SCAN|SEARCH) (.*)$/.exec(detail)?.slice(1) ?? [];
    });
  } finally {
    database.close();
  }
}
