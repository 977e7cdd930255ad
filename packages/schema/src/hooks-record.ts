import * as z from 'zod';

/** What the files of a checkout were before hooks were installed in it. */
export const hooksRecordSchema = z.object({
  root: z.string(),
  /** Each file with its text before and after Pawl wrote to it; null when it was not there. */
  files: z.record(z.string(), z.object({ before: z.string().nullable(), after: z.string() })),
  /** Whether `.claude` was made. */
  madeDirectory: z.boolean(),
});

export type HooksRecord = z.infer<typeof hooksRecordSchema>;
