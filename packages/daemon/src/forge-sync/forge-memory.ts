import type { ForgeChange } from '@pawl/core/port/forge';
import type { ForgeMemory, ForgeFacts } from '@pawl/core/queue/forge-plan';
import { freshForgeMemory } from '@pawl/core/queue/forge-plan';
import type { Change } from '@pawl/schema/change';
import { commentsOf } from '@pawl/store/changes/changes';
import { json, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';

const memorySchema = z.object({
  pushed: z.string().nullable(),
  movedAt: z.number().nullable(),
  isFound: z.boolean(),
  isReady: z.boolean(),
  isFlagged: z.boolean(),
  lastComment: z.string().nullable(),
  isClosed: z.boolean(),
  refused: z
    .object({ head: z.string(), onto: z.string(), reason: z.string(), at: z.number() })
    .nullable()
    .default(null),
});

const forgeMemories = factTable('forge_memories', ['changeId'], {
  changeId: text,
  memory: json(memorySchema.catch(freshForgeMemory)),
});

/** The stored state of a change on its forge. */
export async function forgeMemoryOf(db: Database, changeId: string): Promise<ForgeMemory> {
  return (await forgeMemories.get(db, { changeId }))?.memory ?? freshForgeMemory;
}

export async function rememberOnForge(
  tx: WriteTransaction,
  changeId: string,
  patch: Partial<ForgeMemory>,
): Promise<void> {
  await forgeMemories.set(tx, { changeId, memory: { ...(await forgeMemoryOf(tx.db, changeId)), ...patch } });
}

/** All facts needed to sync a change with its forge. */
export async function forgeFacts(db: Database, change: Change, there: ForgeChange): Promise<ForgeFacts> {
  const comments = await commentsOf(db, change.id);
  const blocking = comments.filter(({ kind, addressedAt }) => kind === 'blocking' && addressedAt === null).length;
  return { change, blocking, there, memory: await forgeMemoryOf(db, change.id) };
}
