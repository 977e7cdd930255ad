import { integer } from '../row.ts';
import type { Database } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** A person's unsent input to an agent, and the scroll position. */
export type Draft = { input: string; scroll: number };

/** Replaces the draft for an agent. */
export async function saveDraft(tx: WriteTransaction, agentId: string, draft: Draft): Promise<void> {
  const columns = { ...draft, updated_at: tx.now };
  await tx.db
    .insertInto('drafts')
    .values({ agent_id: agentId, ...columns })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(columns))
    .execute();
}

/** The draft for an agent, or an empty one. */
export async function draftFor(db: Database, agentId: string): Promise<Draft> {
  const row = await db.selectFrom('drafts').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
  return row === undefined ? { input: '', scroll: 0 } : { input: row.input, scroll: integer(row.scroll) };
}
