import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The run that each assignment started with. For earlier releases, only the latest is known. */
export const runAssignment: Migration = {
  name: '0016-run-assignment',
  async up(db) {
    await db.schema.alterTable('runs').addColumn('assignment', 'text').execute();
    await sql`update runs set assignment = (select agents.assignment from agents where agents.id = runs.agent_id)
      where ordinal = (select min(first.ordinal) from runs as first where first.agent_id = runs.agent_id)`.execute(db);
  },
};
