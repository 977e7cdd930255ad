import { idSchema } from '@pawl/schema/id';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A worktree being rebased to a commit (`onto` on the target branch), and the commits its own branch moves between. */
const refreshIntentSchema = z.object({
  agentId: idSchema,
  branch: z.string(),
  target: z.string(),
  onto: z.string(),
  from: z.string(),
  to: z.string(),
});
export type RefreshIntent = z.infer<typeof refreshIntentSchema>;

const intentPrefix = 'refresh:';
const toldPrefix = 'refresh-told:';
const noticePrefix = 'moved-notice:';

/** Records a move before it starts, so that it can be completed after a crash. */
export async function beginRefresh(tx: WriteTransaction, intent: RefreshIntent): Promise<void> {
  await setSetting(tx, intentPrefix + intent.agentId, intent);
}

/** Deletes the intent of a move that is complete or did not happen. */
export async function forgetRefresh(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, intentPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

export async function refreshesBegun(db: Database): Promise<RefreshIntent[]> {
  return (await settingsWith(db, intentPrefix)).map((value) => refreshIntentSchema.parse(value));
}

/** The last notice to an agent about a worktree that could not be updated. */
export async function lastRefusal(db: Database, agentId: string): Promise<unknown> {
  return getSetting(db, toldPrefix + agentId);
}

/** Records a notice to an agent, and deletes old ones. */
export async function noteRefusal(
  tx: WriteTransaction,
  agentId: string,
  words: string,
  { memoryMs }: { memoryMs: number },
): Promise<void> {
  await forgetSettings(tx, toldPrefix, tx.now - memoryMs);
  await setSetting(tx, toldPrefix + agentId, words);
}

/** Deletes the notice, since nothing is in the way any more. */
export async function forgetRefusal(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, toldPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

/** The last mail that told an agent that its branch was moved. */
export async function lastNotice(db: Database, agentId: string): Promise<string | null> {
  const id = idSchema.safeParse(await getSetting(db, noticePrefix + agentId));
  return id.success ? id.data : null;
}

/** Records that mail, and deletes old ones. */
export async function noteNotice(
  tx: WriteTransaction,
  agentId: string,
  mailId: string,
  { memoryMs }: { memoryMs: number },
): Promise<void> {
  await forgetSettings(tx, noticePrefix, tx.now - memoryMs);
  await setSetting(tx, noticePrefix + agentId, mailId);
}
