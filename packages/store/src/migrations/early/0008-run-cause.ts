import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** How earlier releases worded a used-up budget. An agent's own words may begin alike, so match all of it. */
const budgetWords = /^the budget of the (agent|task|project) is used up: ([\d.]+ of [\d.]+ [A-Za-z ]+)$/;

/** Why a run failed, as data: earlier releases stored only words. */
export const runCause: Migration = {
  name: '0008-run-cause',
  async up(db) {
    await db.schema.alterTable('runs').addColumn('cause', 'text').execute();
    const { rows } = await sql<{ id: string; detail: string }>`select id, detail from runs
      where outcome = 'failed' and detail like 'the budget of the %'`.execute(db);
    for (const { id, detail } of rows) {
      const [, of, spent] = budgetWords.exec(detail) ?? [];
      if (of === undefined) continue;
      const cause = JSON.stringify({ reason: 'budget', of, detail: spent });
      await sql`update runs set cause = ${cause} where id = ${id}`.execute(db);
    }
  },
};
