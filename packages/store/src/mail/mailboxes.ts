import { limits } from '@pawl/schema/limit';
import { json, nullableInteger } from '../row.ts';
import type { Database } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** The state of one agent's mailbox, besides the mail itself. */
export type Mailbox = {
  agentId: string;
  /** When it was last told about mail. It is not told again before it has looked. */
  hintedAt: number | null;
  lookedAt: number | null;
  /** When ordinary mail started a turn, within the last hour, oldest first. */
  wakes: number[];
};

const hourMs = 60 * 60_000;

/** Parses the times; the store wrote them itself, so anything else is dropped. */
const times = {
  parse: (input: unknown): number[] =>
    Array.isArray(input) ? input.filter((at): at is number => Number.isSafeInteger(at)) : [],
};

/** An agent's mailbox; empty if it never had mail. */
export async function mailbox(db: Database, agentId: string): Promise<Mailbox> {
  const row = await db.selectFrom('mailboxes').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
  if (row === undefined) return { agentId, hintedAt: null, lookedAt: null, wakes: [] };
  return {
    agentId,
    hintedAt: nullableInteger(row.hinted_at),
    lookedAt: nullableInteger(row.looked_at),
    wakes: json(times, row.wakes),
  };
}

/** Records that an agent was told about its unread mail. */
export async function noteHinted(tx: WriteTransaction, agentId: string): Promise<void> {
  await remember(tx, agentId, { hinted_at: tx.now });
}

/** Records that an agent looked into its mailbox: it may be told about new mail again. */
export async function noteLooked(tx: WriteTransaction, agentId: string): Promise<void> {
  await remember(tx, agentId, { looked_at: tx.now });
}

/** Records that ordinary mail started a turn. Keeps only the last hour, up to the limit. */
export async function noteWake(tx: WriteTransaction, agentId: string): Promise<void> {
  const { wakes } = await mailbox(tx.db, agentId);
  const kept = wakesSince(wakes, tx.now - hourMs, tx.now);
  await remember(tx, agentId, { wakes: JSON.stringify([...kept, tx.now].slice(-limits.mailWakesPerHour)) });
}

/** How often ordinary mail started a turn in the hour before `now`. */
export function wakesInLastHour({ wakes }: Mailbox, now: number): number {
  return wakesSince(wakes, now - hourMs, now).length;
}

/** A time in the future was recorded before the clock was set back; ignore it. */
function wakesSince(wakes: readonly number[], since: number, now: number): number[] {
  return wakes.filter((at) => at > since && at <= now);
}

type Remembered = { hinted_at?: number; looked_at?: number; wakes?: string };

async function remember(tx: WriteTransaction, agentId: string, columns: Remembered): Promise<void> {
  await tx.db
    .insertInto('mailboxes')
    .values({ agent_id: agentId, hinted_at: null, looked_at: null, wakes: '[]', ...columns })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(columns))
    .execute();
}
