import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** The directory of a run, and its chat thread. Runs of earlier releases worked in their project's root. */
export const runRecord: Migration = {
  name: '0012-run-record',
  async up(db) {
    const runs = db.schema.alterTable('runs');
    await runs.addColumn('repo_path', 'text').execute();
    await runs.addColumn('session_id', 'text', (column) => column.notNull().defaultTo('default')).execute();
    await sql`update runs set repo_path = (select root from projects where projects.id = runs.project_id)`.execute(db);
  },
};
