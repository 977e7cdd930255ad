import type { Migration } from '../migration.ts';

/** When the work on a planned task finished. It completes once its change has landed. */
export const taskFinished: Migration = {
  name: '0011-task-finished',
  async up(db, types) {
    await db.schema.alterTable('tasks').addColumn('finished_at', types.integer).execute();
  },
};
