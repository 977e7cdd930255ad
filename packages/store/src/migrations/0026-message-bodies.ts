import { sql } from 'kysely';
import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/** The contents of a message beside its text: whole inputs of tool calls, images, reasoning, a vendor's own facts. */
export const messageBodies: Migration = {
  name: '0026-message-bodies',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('message_bodies'))
      .addColumn('message_id', types.integer, (column) => column.primaryKey().references('messages.id'))
      .addColumn('body', 'text', (column) => column.notNull())
      .execute();
    await addIndex(db, 'messages_summaries', 'messages', ['agent_id', 'id'], { where: sql`kind = 'summary'` });
  },
};
