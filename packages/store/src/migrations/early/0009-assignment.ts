import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** Each agent's assignment. Earlier releases had it only as the planned task or the first run's task. */
export const assignment: Migration = {
  name: '0009-assignment',
  async up(db) {
    await db.schema.alterTable('agents').addColumn('assignment', 'text').execute();
    await sql`update agents set assignment = coalesce(
      (select tasks.name from tasks where tasks.id = agents.task_id),
      (select runs.task from runs where runs.agent_id = agents.id order by runs.ordinal limit 1))`.execute(db);
    // The task of a first run that mail started is no assignment.
    await sql`update agents set assignment = null where assignment like 'Mail has come for you;%'
      or assignment like 'Another agent waits for your answer;%'`.execute(db);
  },
};
