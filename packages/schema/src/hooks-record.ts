import * as z from 'zod';

/** The files of a checkout before hooks were installed in it. */
export const hooksRecordSchema = z.object({
  root: z.string(),
  /** Each file's text before and after Pawl wrote to it; null if it did not exist. */
  files: z.record(z.string(), z.object({ before: z.string().nullable(), after: z.string() })),
  /** Whether `.claude` was created. */
  madeDirectory: z.boolean(),
});

export type HooksRecord = z.infer<typeof hooksRecordSchema>;
