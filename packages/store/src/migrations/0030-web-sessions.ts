import type { Migration } from './migration.ts';

/** Adds the sessions of browsers, and the port of the last daemon, by which open pages find the next one. */
export const webSessions: Migration = {
  name: '0030-web-sessions',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('web_sessions'))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('proof', 'text', (column) => column.notNull())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addColumn('created_at', types.integer, (column) => column.notNull())
      .addColumn('used_at', types.integer, (column) => column.notNull())
      .addColumn('expires_at', types.integer, (column) => column.notNull())
      .addColumn('revoked_at', types.integer)
      .execute();
    await db.schema.alterTable('daemon_state').addColumn('port', types.integer).execute();
  },
};
