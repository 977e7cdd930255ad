import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { diffFields } from '../../fields.ts';
import { agentAnswerSchema } from '../view.ts';

export const errandListSchema = z.object({
  errands: z.array(
    agentAnswerSchema.shape.agent.extend({
      /** Its original description. */
      description: z.string(),
    }),
  ),
});
export type ErrandList = z.infer<typeof errandListSchema>;

export const errandSendSchema = z.object({ message: z.string().min(1).max(limits.bodyBytes) });

export const errandSentSchema = z.object({
  agent: agentAnswerSchema.shape.agent,
  /** Whether the running process took the message, or the conversation was resumed with it. */
  channel: z.enum(['live', 'resumed']),
});
export type ErrandSent = z.infer<typeof errandSentSchema>;

/** The changes of an errand since its base, including uncommitted ones. */
export const errandDiffSchema = z.object({
  agentId: idSchema,
  branch: z.string(),
  base: z.string(),
  ...diffFields,
});
export type ErrandDiff = z.infer<typeof errandDiffSchema>;

export const errandMergeSchema = z.object({
  /** The branch to merge into; by default the one of the project's work tree. */
  into: z.string().min(1).max(200).optional(),
  /** Commits first what is uncommitted in its worktree. */
  commit: z.boolean().optional(),
});
export type ErrandMergeBody = z.infer<typeof errandMergeSchema>;

export const errandMergedSchema = z.object({
  agent: agentAnswerSchema.shape.agent,
  branch: z.string(),
  into: z.string(),
  commit: z.string(),
  /** Everything was already there: an earlier call had moved the branch, or somebody else. */
  already: z.boolean(),
});
export type ErrandMerged = z.infer<typeof errandMergedSchema>;

export const errandAbandonedSchema = z.object({ agent: agentAnswerSchema.shape.agent, branch: z.string() });
export type ErrandAbandoned = z.infer<typeof errandAbandonedSchema>;
