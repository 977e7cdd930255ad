import { idSchema } from '@pawl/schema/id';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A worktree that is about to be brought up to a commit (`onto` on the target branch): its own branch moves from where to where. */
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

/** Puts on record that a worktree is about to be moved, so that a move that is cut short can be finished. */
export async function beginRefresh(tx: WriteTransaction, intent: RefreshIntent): Promise<void> {
  await setSetting(tx, intentPrefix + intent.agentId, intent);
}

/** Forgets a move that is finished, or did not come about. */
export async function forgetRefresh(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, intentPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

/** Every move that was begun and not finished. */
export async function refreshesBegun(db: Database): Promise<RefreshIntent[]> {
  return (await settingsWith(db, intentPrefix)).map((value) => refreshIntentSchema.parse(value));
}

/** What an agent was last told about a worktree that could not be brought up. */
export async function lastRefusal(db: Database, agentId: string): Promise<unknown> {
  return getSetting(db, toldPrefix + agentId);
}

/** Remembers what an agent was told, and forgets what others were told long ago. */
export async function noteRefusal(
  tx: WriteTransaction,
  agentId: string,
  words: string,
  { memoryMs }: { memoryMs: number },
): Promise<void> {
  await forgetSettings(tx, toldPrefix, tx.now - memoryMs);
  await setSetting(tx, toldPrefix + agentId, words);
}

/** Forgets it: there is nothing in the way any more. */
export async function forgetRefusal(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, toldPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

/** The mail that last told an agent that its branch was moved. */
export async function lastNotice(db: Database, agentId: string): Promise<string | null> {
  const id = idSchema.safeParse(await getSetting(db, noticePrefix + agentId));
  return id.success ? id.data : null;
}

/** Remembers that mail, and forgets those of long ago. */
export async function noteNotice(
  tx: WriteTransaction,
  agentId: string,
  mailId: string,
  { memoryMs }: { memoryMs: number },
): Promise<void> {
  await forgetSettings(tx, noticePrefix, tx.now - memoryMs);
  await setSetting(tx, noticePrefix + agentId, mailId);
}
