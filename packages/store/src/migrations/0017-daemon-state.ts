import { sql } from 'kysely';
import type { Migration } from './migration.ts';

type Setting = { key: string; value: string; updated_at: number | string | bigint };

/** Moves the facts that a home has once from rows of `settings` into one row with a column for each. */
export const daemonState: Migration = {
  name: '0017-daemon-state',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('daemon_state'))
      .addColumn('id', types.integer, (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('root_agent_id', types.key)
      .addColumn('current_agent_id', types.key)
      .addColumn('clock', 'text')
      .addColumn('search_path', 'text')
      .addColumn('mail_mirror_seq', types.integer)
      .addColumn('updated_at', types.integer, (column) => column.notNull())
      .execute();
    const { rows } = await sql<Setting>`select key, value, updated_at from settings
      where key in ('root_agent', 'current_agent', 'clock', 'search_path', 'mail_mirror_seq')`.execute(db);
    if (rows.length === 0) return;
    const stored = new Map(rows.map(({ key, value }) => [key, value]));
    const string = (key: string) => parsed(stored.get(key), (value) => typeof value === 'string');
    const seq = parsed(stored.get('mail_mirror_seq'), (value) => Number.isSafeInteger(value));
    const updatedAt = Math.max(...rows.map(({ updated_at }) => Number(updated_at)));
    await sql`insert into daemon_state
      (id, root_agent_id, current_agent_id, clock, search_path, mail_mirror_seq, updated_at) values
      (1, ${string('root_agent')}, ${string('current_agent')}, ${stored.get('clock') ?? null}, ${string('search_path')},
        ${seq}, ${updatedAt})`.execute(db);
    await sql`delete from settings
      where key in ('root_agent', 'current_agent', 'clock', 'search_path', 'mail_mirror_seq')`.execute(db);
  },
};

/** A JSON value of the expected type; null for none, and for any other, which had no effect. */
function parsed(json: string | undefined, isExpected: (value: unknown) => boolean): unknown {
  if (json === undefined) return null;
  const value: unknown = JSON.parse(json);
  return isExpected(value) ? value : null;
}
