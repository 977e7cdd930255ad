import { checkOutcomes, checkSchema, testCountSchema } from '@pawl/schema/change';
import * as z from 'zod';

/** A check for display: without its process. */
export const checkViewSchema = checkSchema
  .pick({
    id: true,
    commit: true,
    tree: true,
    onto: true,
    changes: true,
    plannedAt: true,
    startedAt: true,
    endedAt: true,
  })
  .extend({
    outcome: z.enum([...checkOutcomes, 'running']),
    /** Its result, in words; for a running one, its current step. */
    detail: z.string(),
    counts: testCountSchema.nullable(),
    exitCode: z.number().int().nullable(),
    /** The names of its commands, in their order. */
    steps: z.array(z.string()),
  });
export type CheckView = z.infer<typeof checkViewSchema>;

/** The output of a check. */
export const checkLogSchema = z.object({
  check: checkViewSchema,
  /** By step, in order; invalid UTF-8 shows as U+FFFD. */
  output: z.array(z.object({ step: z.string(), text: z.string() })),
  /** Stored bytes before these that are left out. */
  leftOutBytes: z.number().int().nonnegative(),
});
export type CheckLog = z.infer<typeof checkLogSchema>;
