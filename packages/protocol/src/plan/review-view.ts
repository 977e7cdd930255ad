import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { phaseWorkSchema, reviewThreadSchema } from '@pawl/schema/plan/plan';
import { taskStates } from '@pawl/schema/record';
import * as z from 'zod';
import { agentNamed } from '../fields.ts';
import { taskViewSchema } from './view.ts';

const phaseWord = z.string().min(1).max(1_000);
const text = z.string().trim().min(1).max(limits.taskSummaryCharacters);

export const reviewQuerySchema = z.object({
  path: z.string().optional(),
  /** By default the only phase that waits for a review. */
  phase: phaseWord.optional(),
});

/** Approves the result of a phase. */
export const approvePhaseSchema = z.object({
  phase: phaseWord.optional(),
  /** The hash of the review that the person looked at, or its start; other work is a conflict. */
  hash: z.string().min(6).max(64).optional(),
});
export type ApprovePhaseBody = z.infer<typeof approvePhaseSchema>;

export const commentPhaseSchema = z.object({
  phase: phaseWord.optional(),
  body: text,
  /** The file that it is about, and the line there. */
  file: z.string().min(1).max(4_096).optional(),
  line: z.number().int().positive().optional(),
});
export type CommentPhaseBody = z.infer<typeof commentPhaseSchema>;

export const requestChangesSchema = z.object({
  phase: phaseWord.optional(),
  /** One more comment, on the phase as a whole. */
  body: text.optional(),
});
export type RequestChangesBody = z.infer<typeof requestChangesSchema>;

export const threadWordSchema = z.object({ thread: z.string().min(4).max(128) });
export const answerThreadSchema = z.object({ answer: text });

const threadViewSchema = reviewThreadSchema.extend({
  state: z.enum(['open', 'sent', 'answered', 'resolved']),
  /** Where its line is now; null for a comment on the whole phase, and for an outdated one. */
  line: z.number().int().positive().nullable(),
  /** Its line is gone. */
  isOutdated: z.boolean(),
  answeredByAgent: agentNamed.nullable(),
});
export type ThreadView = z.infer<typeof threadViewSchema>;

/** The work of a phase, as a person reviews it. */
export const phaseReviewSchema = z.object({
  planId: idSchema,
  phase: z.object({ id: idSchema, name: z.string(), state: z.enum(taskStates), detail: z.string() }),
  tasks: z.array(taskViewSchema.pick({ id: true, name: true, state: true, summary: true, revises: true })),
  /** The commits of each task: the approved ones, or those that are there now. */
  works: z.array(phaseWorkSchema),
  hash: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().nullable(),
      added: z.number().nullable(),
      removed: z.number().nullable(),
    }),
  ),
  patch: z.string(),
  truncated: z.boolean(),
  threads: z.array(threadViewSchema),
});
export type PhaseReview = z.infer<typeof phaseReviewSchema>;
