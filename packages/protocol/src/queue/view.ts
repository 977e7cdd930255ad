import { emergencySchema, mergeMethods, queueWaitSchema, testCountSchema } from '@pawl/schema/change';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { changeViewSchema } from '../changes/view.ts';
import { checkViewSchema } from '../checks/view.ts';
import { agentNamed, path, projectNamed } from '../fields.ts';

/** A project's queue settings, in short. */
const queueConfigSchema = z.object({
  enabled: z.boolean(),
  checks: z.array(z.string()),
  method: z.enum(mergeMethods),
  batch: z.number().int(),
  parallel: z.number().int().nullable(),
  remote: z.string().nullable(),
  auto: z.boolean(),
  forge: z.enum(['local', 'github']),
  /** The definition that reviews each change; null for no review. */
  review: z.string().nullable(),
  guard: z.boolean(),
  source: z.enum(['commit', 'checkout', 'none']),
});

/** The current state of a project's merge queue. */
export const queueViewSchema = z.object({
  project: projectNamed,
  branch: z.string(),
  /** The target branch as the queue last saw it; the actual one before the queue has started. */
  main: z.string().nullable(),
  /** Its last commit known to pass. */
  green: z.string().nullable(),
  /** Test counts there. */
  counts: testCountSchema.nullable(),
  emergency: emergencySchema.extend({ fixer: agentNamed.nullable() }).nullable(),
  pausedAt: timeSchema.nullable(),
  waiting: queueWaitSchema.nullable(),
  /** The steps before anything is merged automatically, with the commands. */
  advice: z.array(z.string()),
  /** When a person allowed pushing the target branch; null if not. */
  pushAllowedAt: timeSchema.nullable(),
  /** Why nothing moves, if the project's configuration cannot be read. */
  trouble: z.string().nullable(),
  /** Queued changes that are not merged, in order. */
  changes: z.array(changeViewSchema),
  running: z.array(checkViewSchema),
  /** The latest that have ended, newest first. */
  checks: z.array(checkViewSchema),
  /** How many of those ended with a result. */
  rounds: z.number().int(),
  config: queueConfigSchema,
});
export type QueueView = z.infer<typeof queueViewSchema>;

export const queueListSchema = z.object({ queues: z.array(queueViewSchema) });
export type QueueList = z.infer<typeof queueListSchema>;

export const queueAnswerSchema = z.object({ queue: queueViewSchema });
export type QueueAnswer = z.infer<typeof queueAnswerSchema>;

export const queueBodySchema = z.strictObject({
  path: path.optional(),
  project: z.string().min(1).max(128).optional(),
});
export type QueueBody = z.infer<typeof queueBodySchema>;
