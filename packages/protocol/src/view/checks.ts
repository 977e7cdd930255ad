import * as z from 'zod';

/** What `init` found out about a project's checks, and whether it wrote that down. */
export const checksFoundSchema = z.object({
  /** The file that names them. */
  file: z.string(),
  /** Commands, and the files that told of them. */
  found: z.array(z.object({ run: z.string(), from: z.string() })),
  /** `kept`: the project has such a file, and it stays as it is. `not-found`: there is nothing to write. */
  outcome: z.enum(['written', 'kept', 'not-found', 'failed']),
  /** Why it could not be written. */
  reason: z.string().nullable(),
});
export type ChecksFound = z.infer<typeof checksFoundSchema>;
