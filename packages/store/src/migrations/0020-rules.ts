import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/** Adds the rules that persons keep for sessions, agents, projects and themselves. */
export const rules: Migration = {
  name: '0020-rules',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('rules'))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('scope_id', types.key)
      .addColumn('effect', 'text', (column) => column.notNull())
      .addColumn('match', 'text', (column) => column.notNull())
      .addColumn('made_by', 'text', (column) => column.notNull())
      .addColumn('request_id', types.key)
      .addColumn('created_at', types.integer, (column) => column.notNull())
      .addColumn('used_at', types.integer)
      .addColumn('revoked_at', types.integer)
      .execute();
    await addIndex(db, 'rules_of_scope', 'rules', ['scope_id', 'scope']);
  },
};
