import * as z from 'zod';

/** The project checks that `init` detected, and whether it wrote them down. */
export const checksFoundSchema = z.object({
  /** The file that names them. */
  file: z.string(),
  /** Commands, and the files they were detected from. */
  found: z.array(z.object({ run: z.string(), from: z.string() })),
  /** `kept`: the project has such a file, which stays unchanged. `not-found`: there is nothing to write. */
  outcome: z.enum(['written', 'kept', 'not-found', 'failed']),
  /** Why it could not be written. */
  reason: z.string().nullable(),
});
export type ChecksFound = z.infer<typeof checksFoundSchema>;
