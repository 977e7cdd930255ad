import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The agent that opened each change. Earlier releases forgot it when a stand-in took over. */
export const changeAuthor: Migration = {
  name: '0013-change-author',
  async up(db) {
    await db.schema.alterTable('changes').addColumn('author_id', 'text').execute();
    await sql`update changes set author_id = agent_id`.execute(db);
  },
};
