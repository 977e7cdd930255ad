import { idSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A merge that a person was given to resolve: where it is, and for which head. */
const fixRecordSchema = z.object({
  changeId: idSchema,
  projectId: idSchema,
  branch: z.string(),
  head: z.string(),
  path: z.string(),
  /** The worktree was made for this, and belongs to no agent. */
  isOwnWorktree: z.boolean(),
  at: timeSchema,
});
export type FixRecord = z.infer<typeof fixRecordSchema>;

const prefix = 'fix:';

/** Puts on record where a merge is about to be begun, so that one that was cut short is recognised. */
export async function recordFix(tx: WriteTransaction, record: FixRecord): Promise<void> {
  await setSetting(tx, prefix + record.changeId, record);
}

/** The merge that was begun for a change, or null. */
export async function fixOf(db: Database, changeId: string): Promise<FixRecord | null> {
  const parsed = fixRecordSchema.safeParse(await getSetting(db, prefix + changeId));
  return parsed.success ? parsed.data : null;
}

/** Forgets a merge, whose worktree is gone. */
export async function forgetFix(tx: WriteTransaction, changeId: string): Promise<void> {
  await forgetSettings(tx, prefix + changeId, Number.MAX_SAFE_INTEGER);
}

/** The worktrees that were made for persons to resolve conflicts in. */
export async function fixWorktrees(db: Database): Promise<FixRecord[]> {
  const records = (await settingsWith(db, prefix)).map((value) => fixRecordSchema.safeParse(value));
  return records.flatMap(({ data }) => (data?.isOwnWorktree === true ? [data] : []));
}
