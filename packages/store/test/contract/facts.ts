import { flag, integer, json, nullable, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import { factTables } from '@pawl/store/facts/fact-tables';
import { shiftTimes } from '@pawl/store/time-jump';
import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { fixedTime, hostileText } from '../fixture.ts';
import { openAgain, openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

/** Refuses anything but an array, as a schema does. */
const strings = {
  parse(input: unknown): string[] {
    if (!Array.isArray(input)) throw new TypeError('not an array');
    return input.map(String);
  },
};

const fixes = factTable('change_fixes', ['changeId'], {
  changeId: text,
  projectId: text,
  branch: text,
  head: text,
  path: text,
  isOwnWorktree: flag,
  at: integer,
});
const returns = factTable('change_returns', ['changeId'], {
  changeId: text,
  head: text,
  ejectedAt: nullable(integer),
  comments: json(strings),
  to: text,
  mailId: nullable(text),
});
const foreseen = factTable('foreseen_conflicts', ['projectId', 'branch', 'otherBranch'], {
  projectId: text,
  branch: text,
  otherBranch: text,
  files: json({ parse: (input) => input }),
});
const memories = factTable('forge_memories', ['changeId'], {
  changeId: text,
  memory: json({ parse: (input) => (isDeepStrictEqual(input, { a: 1 }) ? { a: 1 } : { a: 0 }) }),
});
const parked = factTable('parked_items', ['id'], { id: text });

/** The contract of typed facts, on every engine. */
export function factsContract(engine: EngineUnderTest): void {
  test('a fact round-trips in every type of column, with any text, and is replaced by key', async () => {
    const store = await openFresh(engine);
    const fix = { changeId: hostileText, projectId: 'p', branch: 'b', head: 'h', path: hostileText };
    const returned = { changeId: 'c', head: 'h', ejectedAt: 2 ** 45, comments: [hostileText], to: 'a', mailId: 'm' };
    const fact = { projectId: 'p', branch: hostileText, otherBranch: 'b', files: { [hostileText]: [null, 1.5] } };
    await store.write(async (tx) => {
      await fixes.set(tx, { ...fix, isOwnWorktree: true, at: 1 });
      await fixes.set(tx, { ...fix, isOwnWorktree: false, at: 2 });
      await fixes.set(tx, { ...fix, changeId: 'b', isOwnWorktree: true, at: 3 });
      await returns.set(tx, returned);
      await returns.set(tx, { ...returned, changeId: 'd', ejectedAt: null, mailId: null });
      await foreseen.set(tx, fact);
      await parked.set(tx, { id: 'x' });
      await parked.set(tx, { id: 'x' });
    });
    expect(await fixes.get(store.db, { changeId: hostileText })).toEqual({ ...fix, isOwnWorktree: false, at: 2 });
    expect(await fixes.get(store.db, { changeId: 'b' })).toMatchObject({ isOwnWorktree: true, at: 3 });
    expect(await fixes.get(store.db, { changeId: 'never set' })).toBeNull();
    expect(await returns.all(store.db)).toEqual([
      returned,
      { ...returned, changeId: 'd', ejectedAt: null, mailId: null },
    ]);
    expect(await foreseen.get(store.db, fact)).toEqual(fact);
    expect(await foreseen.get(store.db, { ...fact, otherBranch: 'c' })).toBeNull();
    expect(await parked.all(store.db)).toEqual([{ id: 'x' }]);
  });

  test('only the fact with the whole key is deleted, and only older ones after a time', async () => {
    let now = fixedTime;
    const store = await openFresh(engine, { clock: () => now });
    const add = (id: string) => store.write((tx) => parked.set(tx, { id }));
    await add('a');
    await add('ab');
    now += 1_000;
    await add('b');
    await store.write((tx) => parked.delete(tx, { id: 'a' }));
    expect(await parked.all(store.db)).toEqual([{ id: 'ab' }, { id: 'b' }]);
    await store.write((tx) => parked.deleteBefore(tx, fixedTime));
    expect(await parked.all(store.db)).toHaveLength(2);
    await store.write((tx) => parked.deleteBefore(tx, now));
    expect(await parked.all(store.db)).toEqual([{ id: 'b' }]);
    // Setting it again makes it young.
    now += 1_000;
    await add('b');
    await store.write((tx) => parked.deleteBefore(tx, now));
    expect(await parked.all(store.db)).toEqual([{ id: 'b' }]);
    // After the clock was set back, it is as old as before.
    await store.write((tx) => shiftTimes(tx, -5_000));
    await store.write((tx) => parked.deleteBefore(tx, now - 5_000));
    expect(await parked.all(store.db)).toHaveLength(1);
    await store.write((tx) => parked.deleteBefore(tx, now - 4_999));
    expect(await parked.all(store.db)).toEqual([]);
  });

  test('a value that its schema refuses is an error, unless the schema has a substitute', async () => {
    const store = await openFresh(engine);
    await store.write(async ({ db }) => {
      await sql`insert into change_returns (change_id, head, comments, "to", updated_at)
        values ('c', 'h', '{}', 'a', 1)`.execute(db);
      await sql`insert into forge_memories (change_id, memory, updated_at) values ('c', '{"a":"b"}', 1)`.execute(db);
    });
    await expect(returns.get(store.db, { changeId: 'c' })).rejects.toThrow();
    await expect(returns.all(store.db)).rejects.toThrow();
    expect(await memories.get(store.db, { changeId: 'c' })).toEqual({ changeId: 'c', memory: { a: 0 } });
  });

  test('every table of facts exists, with the time of each row', async () => {
    const store = await openAgain(await engine.emptyDatabase());
    const tables = await store.db.introspection.getTables();
    for (const name of factTables) {
      const columns = tables.find((table) => table.name === name)?.columns.map((column) => column.name);
      expect(columns, name).toContain('updated_at');
    }
    expect(tables.map((table) => table.name)).not.toContain('settings');
    expect(tables.map((table) => table.name)).not.toContain('unknown_settings');
  });
}
