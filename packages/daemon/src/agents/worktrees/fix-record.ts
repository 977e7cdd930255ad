import { idSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A merge for a person to resolve: its worktree and the head it is for. */
const fixRecordSchema = z.object({
  changeId: idSchema,
  projectId: idSchema,
  branch: z.string(),
  head: z.string(),
  path: z.string(),
  /** True if the worktree was created for this, and belongs to no agent. */
  isOwnWorktree: z.boolean(),
  at: timeSchema,
});
export type FixRecord = z.infer<typeof fixRecordSchema>;

const prefix = 'fix:';

/** Records a merge before it starts, so that an interrupted one is recognised. */
export async function recordFix(tx: WriteTransaction, record: FixRecord): Promise<void> {
  await setSetting(tx, prefix + record.changeId, record);
}

export async function fixOf(db: Database, changeId: string): Promise<FixRecord | null> {
  const parsed = fixRecordSchema.safeParse(await getSetting(db, prefix + changeId));
  return parsed.success ? parsed.data : null;
}

/** Deletes the record of a merge whose worktree is gone. */
export async function forgetFix(tx: WriteTransaction, changeId: string): Promise<void> {
  await forgetSettings(tx, prefix + changeId, Number.MAX_SAFE_INTEGER);
}

/** The worktrees created for persons to resolve conflicts in. */
export async function fixWorktrees(db: Database): Promise<FixRecord[]> {
  const records = (await settingsWith(db, prefix)).map((value) => fixRecordSchema.safeParse(value));
  return records.flatMap(({ data }) => (data?.isOwnWorktree === true ? [data] : []));
}
