import type { Migration } from './migration.ts';

/** Each agent's access to the machine. Agents of earlier releases had full access. */
export const agentAccess: Migration = {
  name: '0019-agent-access',
  async up(db) {
    await db.schema
      .alterTable('agents')
      .addColumn('access', 'text', (column) => column.notNull().defaultTo('full'))
      .execute();
  },
};
