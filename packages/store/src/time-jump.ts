import { limits } from '@pawl/schema/limit';
import { sql } from 'kysely';
import type { Tables } from './tables.ts';
import type { WriteTransaction } from './write-transaction.ts';

type Shifted = { table: keyof Tables; columns: readonly string[]; where: string };

/** The times that something still waits for or is measured from. All others are history and stay as they were written. */
const shifted: readonly Shifted[] = [
  { table: 'runs', columns: ['wait_until'], where: 'outcome is null' },
  // The pause before a crashed agent is started again, and how often it crashed within the hour.
  { table: 'runs', columns: ['ended_at'], where: "outcome = 'failed' and ended_at > :now - 3600000" },
  { table: 'agents', columns: ['stuck_at'], where: 'ended_at is null' },
  { table: 'sessions', columns: ['planned_at', 'started_at'], where: 'ended_at is null' },
  // 0 is a limit whose end is not known.
  { table: 'sessions', columns: ['limit_until'], where: 'ended_at is null and limit_until > 0' },
  { table: 'accounts', columns: ['exhausted_until'], where: 'exhausted_until > :now' },
  { table: 'questions', columns: ['asked_at', 'deadline_at', 'listened_until'], where: 'ended_at is null' },
  { table: 'questions', columns: ['ended_at'], where: 'told_at is null' },
  { table: 'mailboxes', columns: ['hinted_at', 'looked_at'], where: 'true' },
  { table: 'nudges', columns: ['nudged_at'], where: 'true' },
  { table: 'changes', columns: ['queued_at', 'retried_at'], where: 'merged_at is null and closed_at is null' },
  // Compared with when a change was tried again, and with the time limit of the check itself.
  {
    table: 'checks',
    columns: ['planned_at', 'started_at', 'step_started_at', 'ended_at'],
    where: 'planned_at > :now - 86400000',
  },
  { table: 'settings', columns: ['updated_at'], where: 'true' },
];

/** Moves every time that is still compared with the present, after the clock was set by `byMs`. */
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
 * Shortens waits that lie further ahead than they can be: the clock was set back while no daemon ran, as during a restart of the
 * machine. The end of an account's limit is left: a provider may name any time.
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
