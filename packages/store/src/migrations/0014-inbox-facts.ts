import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/** Facts for the inbox: since when a local branch has diverged, and commits that were not proposed. */
export const inboxFacts: Migration = {
  name: '0014-inbox-facts',
  async up(db, types) {
    await db.schema.alterTable('queues').addColumn('diverged_at', types.integer).execute();
    await types
      .finish(db.schema.createTable('withheld_work'))
      .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
      .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
      .addColumn('branch', 'text', (column) => column.notNull())
      .addColumn('head', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('at', types.integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('withheld_work_key', ['agent_id', 'project_id'] as never[])
      .execute();
    await addIndex(db, 'withheld_work_project', 'withheld_work', ['project_id']);
  },
};
