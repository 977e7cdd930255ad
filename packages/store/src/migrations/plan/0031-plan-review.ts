import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Adds reviews of phases, branches of plans, and several attempts at one task. */
export const planReview: Migration = {
  name: '0031-plan-review',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('review_threads'))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('initiative_id', types.key, (column) => column.notNull())
      .addColumn('phase_id', types.key, (column) => column.notNull())
      .addColumn('anchor', 'text')
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('created_at', types.integer, (column) => column.notNull())
      .addColumn('revision_id', types.key)
      .addColumn('answer', 'text')
      .addColumn('answered_at', types.integer)
      .addColumn('answered_by', types.key)
      .addColumn('resolved_at', types.integer)
      .execute();
    await addIndex(db, 'review_threads_of_initiative', 'review_threads', ['initiative_id', 'ordinal']);
    await types
      .finish(db.schema.createTable('attempts'))
      .addColumn('task_id', types.key, (column) => column.notNull())
      .addColumn('agent_id', types.key, (column) => column.notNull().unique())
      .addColumn('started_at', types.integer, (column) => column.notNull())
      .addColumn('picked_at', types.integer)
      .addColumn('retired_at', types.integer)
      .execute();
    await addIndex(db, 'attempts_of_task', 'attempts', ['task_id', 'started_at']);
    await types
      .finish(db.schema.createTable('task_landings'))
      .addColumn('task_id', types.key, (column) => column.primaryKey())
      .addColumn('from_commit', 'text', (column) => column.notNull())
      .addColumn('to_commit', 'text', (column) => column.notNull())
      .execute();
    const tasks = db.schema.alterTable('tasks');
    await tasks.addColumn('revises', types.key).execute();
    await tasks.addColumn('attempts', types.integer, (column) => column.notNull().defaultTo(1)).execute();
    await tasks.addColumn('pick', 'text', (column) => column.notNull().defaultTo('first')).execute();
    await db.schema.alterTable('initiatives').addColumn('branch', 'text').execute();
    await db.schema.alterTable('phases').addColumn('reviewed', 'text').execute();
    await db.schema.alterTable('changes').addColumn('rival_of', types.key).execute();
  },
};
