import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Real providers: accounts and their users, budgets, waiting runs, planned tasks. */
export const providers: Migration = {
  name: '0003-providers',
  async up(db, types) {
    await extendAgents(db, types);
    await extendWork(db, types);
    await createAccounts(db, types);
    await createTasks(db, types);
  },
};

async function extendAgents(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const agents = db.schema.alterTable('agents');
  await agents.addColumn('mode', 'text', (column) => column.notNull().defaultTo('execute')).execute();
  await agents.addColumn('account_id', types.key).execute();
  await agents.addColumn('environment', 'text', (column) => column.notNull().defaultTo('{}')).execute();
  await agents
    .addColumn('budget', 'text', (column) =>
      column.notNull().defaultTo('{"tokens":null,"turns":null,"minutes":null,"usd":null}'),
    )
    .execute();
  await agents.addColumn('task_id', types.key).execute();
}

async function extendWork(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const runs = db.schema.alterTable('runs');
  await runs.addColumn('result_before', 'text').execute();
  await runs.addColumn('wait_until', types.integer).execute();
  await runs.addColumn('wait_for', 'text').execute();
  const sessions = db.schema.alterTable('sessions');
  await sessions.addColumn('account_id', types.key).execute();
  await sessions.addColumn('reported', 'text').execute();
  // The lease: at most one process at a time continues a provider's conversation.
  await addIndex(db, 'sessions_lease', 'sessions', ['provider_session_id'], {
    unique: true,
    where: sql`ended_at is null and provider_session_id is not null`,
  });
  await addIndex(db, 'sessions_of_conversation', 'sessions', ['provider_session_id', 'planned_at'], {
    where: sql`provider_session_id is not null`,
  });
}

async function createAccounts(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('accounts'))
    .addColumn('id', types.key, (column) => column.primaryKey())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('name', types.key, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('base_url', 'text')
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('last_used_at', types.integer)
    .addColumn('exhausted_until', types.integer)
    .addColumn('strikes', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('invalid_reason', 'text')
    .addColumn('removed_at', types.integer)
    .execute();
  await addIndex(db, 'accounts_name', 'accounts', ['name'], { unique: true, where: sql`removed_at is null` });
}

async function createTasks(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('tasks'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
    .addColumn('phase', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('depends_on', 'text', (column) => column.notNull())
    .addColumn('created_by', types.key)
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('summary', 'text')
    .addColumn('completed_at', types.integer)
    .addColumn('blocked_reason', 'text')
    .addColumn('crashes', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('agent_id', types.key)
    .execute();
  await addIndex(db, 'tasks_of_project', 'tasks', ['project_id', 'ordinal']);
  await addIndex(db, 'tasks_taken', 'tasks', ['agent_id'], { where: sql`agent_id is not null` });
}
