import type { Migration } from './migration.ts';

/** How far each session's proxy record has been read. */
export const proxyOffset: Migration = {
  name: '0021-proxy-offset',
  async up(db, types) {
    await db.schema
      .alterTable('sessions')
      .addColumn('proxy_offset', types.integer, (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
