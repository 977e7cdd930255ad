import { sql } from 'kysely';
import { addIndex } from './add-index.ts';
import type { Migration } from './migration.ts';

/**
 * Requests of CLIs and programs for approval. Earlier releases kept those of programs as questions; open ones end, since
 * their programs ask again.
 */
export const approvals: Migration = {
  name: '0022-approvals',
  async up(db, types) {
    await types
      .finish(db.schema.createTable('approvals'))
      .addColumn('ordinal', types.integer, types.numbered)
      .addColumn('id', types.key, (column) => column.notNull().unique())
      .addColumn('project_id', types.key)
      .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
      .addColumn('session_id', types.key)
      .addColumn('provider', 'text')
      .addColumn('native_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('cwd', 'text')
      .addColumn('owner', 'text')
      .addColumn('asked_at', types.integer, (column) => column.notNull())
      .addColumn('referred_at', types.integer)
      .addColumn('deadline_at', types.integer)
      .addColumn('closed_at', types.integer)
      .addColumn('end', 'text')
      .addColumn('closed_by', 'text')
      .addColumn('decision', 'text')
      .addColumn('reason', 'text')
      .addColumn('sent_at', types.integer)
      .execute();
    await addIndex(db, 'approvals_native', 'approvals', ['session_id', 'native_id'], {
      unique: true,
      where: sql`session_id is not null`,
    });
    await addIndex(db, 'approvals_open', 'approvals', ['ordinal'], { where: sql`closed_at is null` });
    await addIndex(db, 'approvals_open_agent', 'approvals', ['agent_id', 'ordinal'], {
      where: sql`closed_at is null`,
    });
    await addIndex(db, 'approvals_unsent', 'approvals', ['session_id', 'ordinal'], {
      where: sql`closed_at is not null and sent_at is null and session_id is not null`,
    });
    await sql`update questions set "end" = 'cancelled', answer = 'Pawl was updated', ended_at = asked_at,
      told_at = asked_at where kind = 'permission' and ended_at is null`.execute(db);
  },
};
