import type { Migration } from '../migration.ts';

/** How the agents of a project work: with a person who answers, or until they are finished. Null: the default. */
export const interaction: Migration = {
  name: '0025-interaction',
  async up(db) {
    await db.schema.alterTable('project_settings').addColumn('interaction', 'text').execute();
  },
};
