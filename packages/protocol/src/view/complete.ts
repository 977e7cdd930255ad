import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';

export const completeSchema = z.object({
  /** The result. */
  summary: z.string().max(limits.bodyBytes).optional(),
  /** Why it failed; absent if it did not. */
  failure: z.string().max(limits.bodyBytes).optional(),
});
export type CompleteBody = z.infer<typeof completeSchema>;

export const completeAnswerSchema = agentAnswerSchema.extend({
  /** Recipients of a mail about it by this request. */
  notified: z.array(z.object({ id: idSchema, alias: nameSchema })),
  /** False if it had completed before; then nothing changed. */
  isNew: z.boolean(),
});
export type CompleteAnswer = z.infer<typeof completeAnswerSchema>;
