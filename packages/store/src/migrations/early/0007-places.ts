import { sql } from 'kysely';
import { addIndex } from '../add-index.ts';
import type { Migration } from '../migration.ts';

/** Agents with several projects, each with a worktree of its own, and agents with none. */
export const places: Migration = {
  name: '0007-places',
  async up(db, types) {
    await db.schema.alterTable('agents').addColumn('workdir', 'text').execute();
    await types
      .finish(db.schema.createTable('agent_places'))
      .addColumn('agent_id', types.key, (column) => column.notNull().references('agents.id'))
      .addColumn('project_id', types.key, (column) => column.notNull().references('projects.id'))
      .addColumn('no', types.integer, (column) => column.notNull())
      .addColumn('path', 'text', (column) => column.notNull().unique())
      .addColumn('branch', 'text', (column) => column.notNull())
      .addColumn('base_commit', 'text', (column) => column.notNull())
      .addColumn('snapshot', 'text')
      .addColumn('ready_at', types.integer)
      .addColumn('end', 'text')
      .addPrimaryKeyConstraint('agent_places_key', ['agent_id', 'project_id'] as never[])
      .execute();
    await addIndex(db, 'agent_places_unsettled', 'agent_places', ['project_id'], { where: sql`"end" is null` });
    // SQLite cannot drop `not null` from a column, so a new column replaces it.
    const runs = db.schema.alterTable('runs');
    await runs.addColumn('new_project_id', types.key, (column) => column.references('projects.id')).execute();
    await sql`update runs set new_project_id = project_id`.execute(db);
    await runs.dropColumn('project_id').execute();
    await runs.renameColumn('new_project_id', 'project_id').execute();
  },
};
