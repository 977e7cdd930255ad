import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** The first tables: agents, runs, sessions, messages, and the event log. */
export const foundation: Migration = {
  name: '0001-foundation',
  async up(db, types) {
    await createProjects(db, types);
    await createAgents(db, types);
    await createRuns(db, types);
    await createSessions(db, types);
    await createOutput(db, types);
    await createLog(db, types);
  },
};

async function createProjects(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('projects'))
    .addColumn('id', types.key, (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('root', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .execute();
}

async function createAgents(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('agents'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('alias', types.key, (column) => column.notNull())
    .addColumn('project_id', types.key, (column) => column.references('projects.id'))
    .addColumn('parent_id', types.key, (column) => column.references('agents.id'))
    .addColumn('fork_message_id', types.integer, (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('class', 'text', (column) => column.notNull())
    .addColumn('provider', 'text')
    .addColumn('model', 'text')
    .addColumn('options', 'text', (column) => column.notNull())
    .addColumn('branch', 'text')
    .addColumn('base_commit', 'text')
    .addColumn('worktree', 'text')
    .addColumn('worktree_ready_at', types.integer)
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .addColumn('stop_requested_at', types.integer)
    .addColumn('ended_at', types.integer)
    .addColumn('end_reason', 'text')
    .addColumn('run_id', types.key)
    .addColumn('session_id', types.key)
    .execute();
  // Of two equally good indexes SQLite picks the later one, so those of living agents come after those of all.
  await addIndex(db, 'agents_of_project', 'agents', ['project_id', 'ordinal']);
  await addIndex(db, 'agents_alias', 'agents', ['alias', 'ordinal']);
  // A living agent's alias is unique in its project; nulls are distinct in an index, so agents without a project need
  // their own.
  await addIndex(db, 'agents_living_alias', 'agents', ['project_id', 'alias'], {
    unique: true,
    where: sql`ended_at is null`,
  });
  await addIndex(db, 'agents_living_alias_of_none', 'agents', ['alias'], {
    unique: true,
    where: sql`ended_at is null and project_id is null`,
  });
  await addIndex(db, 'agents_alias_of_living', 'agents', ['alias', 'ordinal'], { where: sql`ended_at is null` });
  await addIndex(db, 'agents_living', 'agents', ['ordinal'], { where: sql`ended_at is null` });
  await addIndex(db, 'agents_living_of_project', 'agents', ['project_id', 'ordinal'], { where: sql`ended_at is null` });
}

async function createRuns(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('runs'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
    .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('agent_kind', 'text', (column) => column.notNull())
    .addColumn('parent_run_id', types.key, (column) => column.references('runs.id'))
    .addColumn('task', 'text', (column) => column.notNull())
    .addColumn('started_at', types.integer, (column) => column.notNull())
    .addColumn('ended_at', types.integer)
    .addColumn('outcome', 'text')
    .addColumn('detail', 'text')
    .addColumn('questions', 'text')
    .execute();
  await addIndex(db, 'runs_of_agent', 'runs', ['agent_id', 'ordinal']);
  await addIndex(db, 'runs_open', 'runs', ['agent_id'], { where: sql`outcome is null` });
}

async function createSessions(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('sessions'))
    .addColumn('id', types.key, (column) => column.primaryKey())
    .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('run_id', types.key, (column) => column.notNull().references('runs.id'))
    .addColumn('no', types.integer, (column) => column.notNull())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('provider_session_id', 'text')
    .addColumn('planned_at', types.integer, (column) => column.notNull())
    .addColumn('started_at', types.integer)
    .addColumn('pid', types.integer)
    .addColumn('process_start', 'text')
    .addColumn('ended_at', types.integer)
    .addColumn('exit_code', types.integer)
    .addColumn('end_reason', 'text')
    .addColumn('usage', 'text', (column) => column.notNull())
    .addColumn('result', 'text')
    .addColumn('limit_until', types.integer)
    .addColumn('stdout_offset', types.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('stderr_offset', types.integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await addIndex(db, 'sessions_of_agent', 'sessions', ['agent_id', 'no'], { unique: true });
  await addIndex(db, 'sessions_open', 'sessions', ['agent_id'], { unique: true, where: sql`ended_at is null` });
}

async function createOutput(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('messages'))
    .addColumn('id', types.integer, types.numbered)
    .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('created_at', types.integer, (column) => column.notNull())
    .execute();
  await addIndex(db, 'messages_of_agent', 'messages', ['agent_id', 'id']);
  await types
    .finish(db.schema.createTable('chunks'))
    .addColumn('id', types.integer, types.numbered)
    .addColumn('session_id', types.key, (column) => column.notNull())
    .addColumn('agent_id', types.key, (column) => column.notNull())
    .addColumn('stream', 'text', (column) => column.notNull())
    .addColumn('start_offset', types.integer, (column) => column.notNull())
    .addColumn('bytes', types.blob, (column) => column.notNull())
    .addColumn('at', types.integer, (column) => column.notNull())
    .execute();
  await addIndex(db, 'chunks_at_offset', 'chunks', ['session_id', 'stream', 'start_offset'], { unique: true });
  await addIndex(db, 'chunks_of_session', 'chunks', ['session_id', 'id']);
  await addIndex(db, 'chunks_of_agent', 'chunks', ['agent_id', 'id']);
}

async function createLog(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('events'))
    .addColumn('seq', types.integer, (column) => column.primaryKey())
    .addColumn('at', types.integer, (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('project_id', types.key)
    .addColumn('agent_id', types.key)
    .addColumn('data', 'text', (column) => column.notNull())
    .execute();
  await addIndex(db, 'events_of_agent', 'events', ['agent_id', 'seq']);
  await addIndex(db, 'events_of_project', 'events', ['project_id', 'seq']);
  await types
    .finish(db.schema.createTable('settings'))
    .addColumn('key', types.key, (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('updated_at', types.integer, (column) => column.notNull())
    .execute();
  await types
    .finish(db.schema.createTable('counters'))
    .addColumn('name', types.key, (column) => column.primaryKey())
    .addColumn('value', types.integer, (column) => column.notNull())
    .execute();
  await sql`insert into counters (name, value) values ('event_seq', 0)`.execute(db);
}
