import type { Returned } from '@pawl/core/changes/change-return';
import { idSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** Settings that record to whom a change was last returned, so that each return happens once, even after a crash. */
const prefix = 'returned:';

const returnedSchema = z.object({
  head: z.string(),
  ejectedAt: timeSchema.nullable(),
  comments: z.array(idSchema),
  to: idSchema,
  mailId: idSchema.nullable(),
});

/** The last return of a change, or null. */
export async function lastReturn(db: Database, changeId: string): Promise<Returned | null> {
  const parsed = returnedSchema.safeParse(await getSetting(db, prefix + changeId));
  return parsed.success ? parsed.data : null;
}

export async function rememberReturn(tx: WriteTransaction, changeId: string, returned: Returned): Promise<void> {
  await setSetting(tx, prefix + changeId, returned);
}
