import * as z from 'zod';
import { idSchema } from '../id.ts';
import { timeSchema } from '../record.ts';

export const pathLockLimits = {
  /** How long a lock lasts unless another time is given, and the longest. */
  leaseMs: 5 * 60_000,
  longestMs: 60 * 60_000,
  globs: 50,
  globCharacters: 500,
  /** Locks of one agent at the same time. */
  ofAgent: 100,
} as const;

/** A pattern of paths below the top of a worktree. */
export const lockGlobSchema = z
  .string()
  .min(1)
  .max(pathLockLimits.globCharacters)
  .refine((glob) => !/^(?:\/|~)|(?:^|\/)\.\.(?:\/|$)|\0/.test(glob), 'a pattern is relative and has no `..`');

/** A lease on paths of a project: until it expires, only its agent may write there. */
export const pathLockSchema = z.object({
  /** Enough to release the lock. */
  id: idSchema,
  projectId: idSchema,
  agentId: idSchema,
  globs: z.array(lockGlobSchema).min(1).max(pathLockLimits.globs),
  createdAt: timeSchema,
  expiresAt: timeSchema,
});
export type PathLock = z.infer<typeof pathLockSchema>;
