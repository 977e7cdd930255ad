import type { Migration } from '../migration.ts';

/** A person's decisions about a project: its provider, pushing, the crew, and whether it is tracked. */
export const projectSettings: Migration = {
  name: '0006-project-settings',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('project_settings'))
      .addColumn('project_id', types.key, (column) => column.primaryKey().references('projects.id'))
      .addColumn('provider', 'text')
      .addColumn('push_allowed_at', types.integer)
      .addColumn('crew_wanted_at', types.integer)
      .addColumn('untracked_at', types.integer)
      .execute();
  },
};
