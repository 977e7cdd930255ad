import { idSchema, nameSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import { ruleEffects, ruleScopes, ruleTextSchema } from '@pawl/schema/rule';
import * as z from 'zod';
import { projectReferenceSchema } from '../projects/view.ts';

/** A rule, with what it will do. */
export const ruleViewSchema = z.object({
  /** Null for a rule in a file. */
  id: idSchema.nullable(),
  scope: z.enum(ruleScopes),
  effect: z.enum(ruleEffects),
  match: z.string(),
  /** Its consequence in one sentence. */
  does: z.string(),
  project: nameSchema.nullable(),
  agent: nameSchema.nullable(),
  /** False for an allow rule of a repository that is not trusted. */
  counts: z.boolean(),
  /** Its author: `person`, an agent, or the file that contains it. */
  madeBy: z.string(),
  /** The request that it was made from; null if a person wrote it. */
  requestId: idSchema.nullable(),
  createdAt: timeSchema.nullable(),
  usedAt: timeSchema.nullable(),
  revokedAt: timeSchema.nullable(),
});
export type RuleView = z.infer<typeof ruleViewSchema>;

export const ruleListSchema = z.object({
  rules: z.array(ruleViewSchema),
  /** Why some rules in files cannot be read, so that no rule allows anything; null if all can. */
  trouble: z.string().nullable(),
});
export type RuleList = z.infer<typeof ruleListSchema>;

export const ruleAnswerSchema = z.object({ rule: ruleViewSchema.extend({ id: idSchema }) });
export type RuleAnswer = z.infer<typeof ruleAnswerSchema>;

/** A rule that a person writes. Without a project and an agent it applies to everything. */
export const addRuleSchema = projectReferenceSchema.extend({
  effect: z.enum(ruleEffects),
  match: ruleTextSchema,
  agent: z.string().min(1).max(200).optional(),
});
export type AddRuleBody = z.infer<typeof addRuleSchema>;
