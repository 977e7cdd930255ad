import { idSchema } from '@pawl/schema/id';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** A merge that has been begun: from where to where a branch was about to move. */
const mergeIntentSchema = z.object({ agentId: idSchema, into: z.string(), from: z.string(), to: z.string() });
export type MergeIntent = z.infer<typeof mergeIntentSchema>;

const intentPrefix = 'errand-merge:';

/** Puts on record that a merge is about to be made, so that one that is cut short can be finished. */
export async function beginMerge(tx: WriteTransaction, intent: MergeIntent): Promise<void> {
  await setSetting(tx, intentPrefix + intent.agentId, intent);
}

/** Forgets a merge that is finished, or did not come about. */
export async function forgetMerge(tx: WriteTransaction, agentId: string): Promise<void> {
  await forgetSettings(tx, intentPrefix + agentId, Number.MAX_SAFE_INTEGER);
}

/** The merge of an agent's branch that was begun and not finished, or null. */
export async function mergeBegun(db: Database, agentId: string): Promise<MergeIntent | null> {
  const value = await getSetting(db, intentPrefix + agentId);
  return value === undefined ? null : mergeIntentSchema.parse(value);
}

/** Every merge that was begun and not finished. */
export async function mergesBegun(db: Database): Promise<MergeIntent[]> {
  return (await settingsWith(db, intentPrefix)).map((value) => mergeIntentSchema.parse(value));
}
