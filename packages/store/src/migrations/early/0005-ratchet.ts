import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../engine/engine.ts';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** The ratchet: changes and comments, checks and their output, and each project's queue. */
export const ratchet: Migration = {
  name: '0005-ratchet',
  async up(db, types) {
    await createChanges(db, types);
    await createComments(db, types);
    await createChecks(db, types);
    await createQueues(db, types);
  },
};

async function createChanges(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('changes'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
    .addColumn('agent_id', types.key)
    .addColumn('task_id', types.key)
    .addColumn('branch', 'text', (column) => column.notNull())
    .addColumn('head', 'text', (column) => column.notNull())
    .addColumn('base', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('opened_at', types.integer, (column) => column.notNull())
    .addColumn('queued_at', types.integer)
    .addColumn('retried_at', types.integer)
    .addColumn('isolated_at', types.integer)
    .addColumn('hold', 'text')
    .addColumn('findings', 'text', (column) => column.notNull())
    .addColumn('approved_head', 'text')
    .addColumn('ejection', 'text')
    .addColumn('examined_head', 'text')
    .addColumn('reviewed_head', 'text')
    .addColumn('reviewer_id', types.key)
    .addColumn('reviews', types.integer, (column) => column.notNull())
    .addColumn('stand_in_id', types.key)
    .addColumn('returns', types.integer, (column) => column.notNull())
    .addColumn('forge_ref', 'text')
    .addColumn('merged_at', types.integer)
    .addColumn('merged_commit', 'text')
    .addColumn('closed_at', types.integer)
    .addColumn('close_reason', 'text')
    .execute();
  await addIndex(db, 'changes_of_project', 'changes', ['project_id', 'ordinal']);
  await addIndex(db, 'changes_of_agent', 'changes', ['agent_id', 'ordinal'], { where: sql`agent_id is not null` });
  await addIndex(db, 'changes_of_task', 'changes', ['task_id', 'ordinal'], { where: sql`task_id is not null` });
  const isOpen = sql`merged_at is null and closed_at is null`;
  await addIndex(db, 'changes_open', 'changes', ['project_id', 'ordinal'], { where: isOpen });
  // One open change per branch.
  await addIndex(db, 'changes_open_branch', 'changes', ['project_id', 'branch'], { where: isOpen, unique: true });
}

async function createComments(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('change_comments'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('change_id', types.key, (column) => column.notNull().references('changes.id'))
    .addColumn('agent_id', types.key)
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('head', 'text', (column) => column.notNull())
    .addColumn('at', types.integer, (column) => column.notNull())
    .addColumn('addressed_at', types.integer)
    .addColumn('addressed', 'text')
    .execute();
  await addIndex(db, 'change_comments_of', 'change_comments', ['change_id', 'ordinal']);
}

async function createChecks(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('checks'))
    .addColumn('ordinal', types.integer, types.numbered)
    .addColumn('id', types.key, (column) => column.notNull().unique())
    .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
    .addColumn('commit', 'text', (column) => column.notNull())
    .addColumn('tree', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('steps', 'text', (column) => column.notNull())
    .addColumn('changes', 'text', (column) => column.notNull())
    .addColumn('onto', 'text', (column) => column.notNull())
    .addColumn('planned_at', types.integer, (column) => column.notNull())
    .addColumn('started_at', types.integer)
    .addColumn('step', types.integer, (column) => column.notNull())
    .addColumn('step_started_at', types.integer)
    .addColumn('pid', types.integer)
    .addColumn('process_start', 'text')
    .addColumn('output_offset', types.integer, (column) => column.notNull())
    .addColumn('output_bytes', types.integer, (column) => column.notNull())
    .addColumn('ended_at', types.integer)
    .addColumn('outcome', 'text')
    .addColumn('exit_code', types.integer)
    .addColumn('detail', 'text')
    .addColumn('counts', 'text')
    .execute();
  await addIndex(db, 'checks_of_tree', 'checks', ['project_id', 'tree', 'ordinal']);
  await addIndex(db, 'checks_of_project', 'checks', ['project_id', 'ordinal']);
  await addIndex(db, 'checks_open', 'checks', ['ordinal'], { where: sql`ended_at is null` });
  await types
    .finish(db.schema.createTable('check_chunks'))
    .addColumn('id', types.integer, types.numbered)
    .addColumn('check_id', types.key, (column) => column.notNull())
    .addColumn('step', types.integer, (column) => column.notNull())
    .addColumn('start_offset', types.integer, (column) => column.notNull())
    .addColumn('bytes', types.blob, (column) => column.notNull())
    .addColumn('at', types.integer, (column) => column.notNull())
    .execute();
  await addIndex(db, 'check_chunks_of', 'check_chunks', ['check_id', 'id']);
}

async function createQueues(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  await types
    .finish(db.schema.createTable('queues'))
    .addColumn('project_id', types.key, (column) => column.primaryKey().references('projects.id'))
    .addColumn('branch', 'text', (column) => column.notNull())
    .addColumn('seen', 'text')
    .addColumn('green', 'text')
    .addColumn('counts', 'text')
    .addColumn('emergency', 'text')
    .addColumn('paused_at', types.integer)
    .addColumn('waiting', 'text')
    .addColumn('advance', 'text')
    .addColumn('began_at', types.integer, (column) => column.notNull())
    .execute();
}
