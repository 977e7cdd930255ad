import { integer } from '../row.ts';
import type { Database } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** What a person has begun to write to an agent, and how far they had scrolled. */
export type Draft = { input: string; scroll: number };

/** Keeps the draft for one agent, in the place of an earlier one. */
export async function saveDraft(tx: WriteTransaction, agentId: string, draft: Draft): Promise<void> {
  const columns = { ...draft, updated_at: tx.now };
  await tx.db
    .insertInto('drafts')
    .values({ agent_id: agentId, ...columns })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(columns))
    .execute();
}

/** The draft for one agent; an empty one when none was kept. */
export async function draftFor(db: Database, agentId: string): Promise<Draft> {
  const row = await db.selectFrom('drafts').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
  return row === undefined ? { input: '', scroll: 0 } : { input: row.input, scroll: integer(row.scroll) };
}
