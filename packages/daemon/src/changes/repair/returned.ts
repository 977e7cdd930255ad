import type { Returned } from '@pawl/core/changes/change-return';
import { idSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

/** Settings that remember to whom a change went back the last time: so each return is made once, whatever happens in between. */
const prefix = 'returned:';

const returnedSchema = z.object({
  head: z.string(),
  ejectedAt: timeSchema.nullable(),
  comments: z.array(idSchema),
  to: idSchema,
  mailId: idSchema.nullable(),
});

/** To whom a change went back the last time, and about what; null when it never did. */
export async function lastReturn(db: Database, changeId: string): Promise<Returned | null> {
  const parsed = returnedSchema.safeParse(await getSetting(db, prefix + changeId));
  return parsed.success ? parsed.data : null;
}

/** Remembers that a change went back. */
export async function rememberReturn(tx: WriteTransaction, changeId: string, returned: Returned): Promise<void> {
  await setSetting(tx, prefix + changeId, returned);
}
