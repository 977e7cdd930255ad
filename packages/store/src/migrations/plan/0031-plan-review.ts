import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Adds reviews of phases, and branches of plans. */
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
      .finish(db.schema.createTable('task_landings'))
      .addColumn('task_id', types.key, (column) => column.primaryKey())
      .addColumn('from_commit', 'text', (column) => column.notNull())
      .addColumn('to_commit', 'text', (column) => column.notNull())
      .execute();
    await db.schema.alterTable('tasks').addColumn('revises', types.key).execute();
    await db.schema.alterTable('initiatives').addColumn('branch', 'text').execute();
    await db.schema.alterTable('phases').addColumn('reviewed', 'text').execute();
  },
};
