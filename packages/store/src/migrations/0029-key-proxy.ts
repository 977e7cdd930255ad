import type { Migration } from './migration.ts';

/** Agents and accounts whose sessions have the key itself. */
export const keyProxy: Migration = {
  name: '0029-key-proxy',
  async up(db) {
    for (const table of ['agents', 'accounts']) {
      await db.schema.alterTable(table).addColumn('key_proxy', 'text').execute();
    }
  },
};
