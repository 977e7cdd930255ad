import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import { factTables } from './facts/fact-tables.ts';
import type { FactTableName } from './facts/fact-tables.ts';
import type { Tables } from './tables.ts';
import type { WriteTransaction } from './write-transaction.ts';

type Shifted = { table: keyof Tables | FactTableName; columns: readonly string[]; where: string };

/** Times that are still waited for or measured from. All others are history and stay as written. */
const shifted: readonly Shifted[] = [
  { table: 'runs', columns: ['wait_until'], where: 'outcome is null' },
  // For the delay before a crashed agent restarts, and its crashes within the hour.
  { table: 'runs', columns: ['ended_at'], where: "outcome = 'failed' and ended_at > :now - 3600000" },
  { table: 'agents', columns: ['stuck_at'], where: 'ended_at is null' },
  { table: 'sessions', columns: ['planned_at', 'started_at'], where: 'ended_at is null' },
  // 0 is a limit with an unknown end.
  { table: 'sessions', columns: ['limit_until'], where: 'ended_at is null and limit_until > 0' },
  { table: 'accounts', columns: ['exhausted_until'], where: 'exhausted_until > :now' },
  { table: 'questions', columns: ['asked_at', 'deadline_at', 'listened_until'], where: 'ended_at is null' },
  { table: 'questions', columns: ['ended_at'], where: 'told_at is null' },
  { table: 'approvals', columns: ['asked_at', 'deadline_at'], where: 'closed_at is null' },
  { table: 'web_sessions', columns: ['expires_at'], where: 'revoked_at is null' },
  { table: 'mailboxes', columns: ['hinted_at', 'looked_at'], where: 'true' },
  { table: 'nudges', columns: ['nudged_at'], where: 'true' },
  { table: 'changes', columns: ['queued_at', 'retried_at'], where: 'merged_at is null and closed_at is null' },
  // Compared with the time of a retry, and with the check's own time limit.
  {
    table: 'checks',
    columns: ['planned_at', 'started_at', 'step_started_at', 'ended_at'],
    where: 'planned_at > :now - 86400000',
  },
  // Some are forgotten after a while.
  ...factTables.map((table) => ({ table, columns: ['updated_at'], where: 'true' })),
];

/** Shifts every time that is still compared with the present, after the clock was set by `byMs`. */
export async function shiftTimes(tx: WriteTransaction, byMs: number): Promise<void> {
  for (const { table, columns, where } of shifted) {
    const moved = columns.map((name) => {
      const column = sql.ref(name);
      const sum = sql`${column} + ${sql.lit(byMs)}`;
      return sql`${column} = case when ${sum} < 0 then 0 else ${sum} end`;
    });
    const condition = sql.raw(where.replaceAll(':now', String(tx.now)));
    await sql`update ${sql.table(table)} set ${sql.join(moved)} where ${condition}`.execute(tx.db);
  }
}

/**
 * Shortens waits that are longer than possible: the clock was set back while no daemon ran, as during a reboot. Leaves
 * the end of an account's limit: a provider may name any time.
 */
export async function clampTimes(tx: WriteTransaction): Promise<void> {
  const { now, db } = tx;
  const longestRetryMs = limits.retryMs * 2 ** limits.faultRetries;
  await db
    .updateTable('runs')
    .set({ wait_until: now + longestRetryMs })
    .where('outcome', 'is', null)
    .where('wait_for', '=', 'retry')
    .where('wait_until', '>', now + longestRetryMs)
    .execute();
  await db
    .updateTable('questions')
    .set({ asked_at: now, deadline_at: sql`deadline_at - asked_at + ${sql.lit(now)}` })
    .where('ended_at', 'is', null)
    .where('asked_at', '>', now)
    .execute();
  await db
    .updateTable('questions')
    .set({ listened_until: now + limits.listenMs })
    .where('ended_at', 'is', null)
    .where('listened_until', '>', now + limits.listenMs)
    .execute();
}
