import { idSchema, nameSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';

const worktreeViewSchema = z.object({
  state: z.enum(['in-use', 'retained', 'trashed', 'missing', 'orphan']),
  path: z.string(),
  project: nameSchema.nullable(),
  agent: z.object({ id: idSchema, alias: nameSchema }).nullable(),
  branch: z.string().nullable(),
  /** Why it was retained, or when it was trashed. */
  detail: z.string(),
  /** Its name in the trash, for `restore`. */
  entry: z.string().nullable(),
  at: timeSchema.nullable(),
});
export type WorktreeView = z.infer<typeof worktreeViewSchema>;

export const worktreeListSchema = z.object({ worktrees: z.array(worktreeViewSchema) });
export type WorktreeList = z.infer<typeof worktreeListSchema>;

export const restoreAnswerSchema = z.object({ path: z.string() });

export const pruneSchema = z.object({
  /** Minimum age in the trash. */
  olderThanMs: z.number().int().nonnegative(),
  /** Includes those with uncommitted work, after archiving it. */
  force: z.boolean().optional(),
  /** Only reports what would be deleted. */
  dryRun: z.boolean().optional(),
});

export const pruneAnswerSchema = z.object({
  pruned: z.array(z.string()),
  kept: z.array(z.object({ entry: z.string(), reason: z.string() })),
  /** Retained worktrees without content, moved to the trash now. */
  trashed: z.array(z.string()),
});
export type PruneAnswer = z.infer<typeof pruneAnswerSchema>;

/** The content of a worktree. */
export const worktreeContentSchema = z.object({
  exists: z.boolean(),
  /** Why the rest is unknown, such as a worktree that git has no record of; null if it is known. */
  problem: z.string().nullable(),
  head: z.string().nullable(),
  /** Null if they could not be counted. */
  commits: z.number().int().nullable(),
  changed: z.number().int().nullable(),
  untracked: z.number().int().nullable(),
  files: z.array(z.string()),
});
