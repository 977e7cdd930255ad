import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Agents as processes: supervisors, inherited history, signals, and the end of worktrees. */
export const processes: Migration = {
  name: '0002-processes',
  async up(db, types) {
    await extendAgents(db, types);
    await extendWork(db, types);
    await extendMessages(db, types);
    await createDrafts(db, types);
  },
};

async function extendAgents(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const agents = db.schema.alterTable('agents');
  await agents.addColumn('supervisor_id', types.key).execute();
  await agents.addColumn('forked_conversation', 'text').execute();
  await agents.addColumn('snapshot', 'text').execute();
  await agents.addColumn('fresh_after', types.integer, (column) => column.notNull().defaultTo(0)).execute();
  await agents.addColumn('worktree_end', 'text').execute();
  await agents.addColumn('reaped_at', types.integer).execute();
  await sql`update agents set supervisor_id = parent_id`.execute(db);
  await addIndex(db, 'agents_children', 'agents', ['parent_id', 'ordinal']);
  await addIndex(db, 'agents_supervised', 'agents', ['supervisor_id'], { where: sql`ended_at is null` });
  await addIndex(db, 'agents_to_make', 'agents', ['ordinal'], {
    where: sql`ended_at is null and worktree is not null and worktree_ready_at is null`,
  });
  await addIndex(db, 'agents_to_clean_up', 'agents', ['ordinal'], {
    where: sql`ended_at is not null and worktree is not null and worktree_end is null`,
  });
}

async function extendWork(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await db.schema.alterTable('runs').addColumn('definition', 'text').execute();
  // Open runs are read in order; with the index on agents SQLite read all runs for that.
  await db.schema.dropIndex('runs_open').execute();
  await addIndex(db, 'runs_open', 'runs', ['ordinal'], { where: sql`outcome is null` });
  await addIndex(db, 'runs_children', 'runs', ['parent_run_id'], { where: sql`parent_run_id is not null` });
  const sessions = db.schema.alterTable('sessions');
  await sessions.addColumn('conversation', 'text', (column) => column.notNull().defaultTo('new')).execute();
  await sessions.addColumn('paused_at', types.integer).execute();
  await sessions.addColumn('interrupted_at', types.integer).execute();
}

async function extendMessages(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const messages = db.schema.alterTable('messages');
  await messages.addColumn('run_id', types.key).execute();
  await messages.addColumn('session_id', types.key).execute();
  await messages.addColumn('data', 'text').execute();
  // Replay looks up an agent's last clear.
  await addIndex(db, 'messages_clear', 'messages', ['agent_id', 'id'], { where: sql`kind = 'clear'` });
  await addIndex(db, 'messages_of_session', 'messages', ['session_id', 'id'], { where: sql`session_id is not null` });
}

async function createDrafts(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('drafts'))
    .addColumn('agent_id', types.key, (column) => column.primaryKey().references('agents.id'))
    .addColumn('input', 'text', (column) => column.notNull())
    .addColumn('scroll', types.integer, (column) => column.notNull())
    .addColumn('updated_at', types.integer, (column) => column.notNull())
    .execute();
}
