import { idSchema } from '@pawl/schema/id';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A merge in progress: the branch and the commits it moves between. */
const mergeIntentSchema = z.object({ agentId: idSchema, into: z.string(), from: z.string(), to: z.string() });
export type MergeIntent = z.infer<typeof mergeIntentSchema>;

const intentPrefix = 'errand-merge:';

/** Records a merge before it starts, so that it can be completed after a crash. */
export async function beginMerge(tx: WriteTransaction, intent: MergeIntent): Promise<void> {
  await setSetting(tx, intentPrefix + intent.agentId, intent);
}

/** Deletes the intent of a merge that is complete or did not happen. */
export async function forgetMerge(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, intentPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

/** The unfinished merge of an agent's branch, or null. */
export async function mergeBegun(db: Database, agentId: string): Promise<MergeIntent | null> {
  const value = await getSetting(db, intentPrefix + agentId);
  return value === undefined ? null : mergeIntentSchema.parse(value);
}

export async function mergesBegun(db: Database): Promise<MergeIntent[]> {
  return (await settingsWith(db, intentPrefix)).map((value) => mergeIntentSchema.parse(value));
}
