import type { Migration } from '../migration.ts';

/** Which definition should do a task. */
export const taskDefinition: Migration = {
  name: '0027-task-definition',
  async up(db) {
    await db.schema.alterTable('tasks').addColumn('definition', 'text').execute();
  },
};
