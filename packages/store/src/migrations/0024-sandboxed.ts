import type { Migration } from './migration.ts';

/** Whether each session ran in a sandbox, and which agents have their access only in one. */
export const sandboxed: Migration = {
  name: '0024-sandboxed',
  async up(db) {
    await db.schema.alterTable('sessions').addColumn('sandbox', 'text').execute();
    await db.schema.alterTable('agents').addColumn('access_needs', 'text').execute();
  },
};
