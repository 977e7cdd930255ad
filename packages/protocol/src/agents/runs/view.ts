import { accessLevels } from '@pawl/schema/access-level';
import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { budgetSchema, runSchema } from '@pawl/schema/record';
import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';
import { path, word } from '../../fields.ts';

/** A delegation: an agent of the target definition works on a task for the caller, in the caller's project. */
export const delegateSchema = z.strictObject({
  /** The definition: usually a subagent's; a main's starts an agent that outlives the caller's run. */
  target: nameSchema,
  task: z.string().max(limits.bodyBytes),
  provider: z.string().min(1).max(64).optional(),
  model: word(200).optional(),
  alias: nameSchema.optional(),
  base: z.string().min(1).max(200).optional(),
  options: z.record(z.string().max(64), path).optional(),
  budget: budgetSchema.partial().optional(),
  access: z.enum(accessLevels).optional(),
});
export type DelegateBody = z.infer<typeof delegateSchema>;

/** A run and its result. */
export const runResultSchema = z.object({
  run: runSchema
    .pick({
      id: true,
      repoPath: true,
      sessionId: true,
      agentId: true,
      agentKind: true,
      parentRunId: true,
      detail: true,
      questions: true,
      startedAt: true,
      endedAt: true,
    })
    .extend({ status: z.enum(['running', 'completed', 'failed', 'cancelled']) }),
  agent: z.object({ id: idSchema, alias: nameSchema, definition: nameSchema }),
  /** The agent's result, or why it failed; null while it runs. */
  result: z.string().nullable(),
  /** `result` is only the beginning; the agent's history has all of it. */
  cut: z.boolean(),
});
export type RunResult = z.infer<typeof runResultSchema>;

/** The agent that works on a delegation, and its run. */
export const delegatedSchema = agentAnswerSchema.extend({ run: runResultSchema.shape.run });
export type Delegated = z.infer<typeof delegatedSchema>;

export const cancelAnswerSchema = z.object({ cancelled: z.array(idSchema) });
