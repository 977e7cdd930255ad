import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Adds the leases by which agents keep others from writing to paths. */
export const pathLocks: Migration = {
  name: '0028-path-locks',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('path_locks'))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('project_id', types.key, (column) => column.notNull())
      .addColumn('agent_id', types.key, (column) => column.notNull())
      .addColumn('globs', 'text', (column) => column.notNull())
      .addColumn('created_at', types.integer, (column) => column.notNull())
      .addColumn('expires_at', types.integer, (column) => column.notNull())
      .execute();
    await addIndex(db, 'path_locks_of_project', 'path_locks', ['project_id', 'expires_at']);
  },
};
