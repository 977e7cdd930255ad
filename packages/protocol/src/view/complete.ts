import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';

export const completeSchema = z.object({
  /** What came of it. */
  summary: z.string().max(limits.bodyBytes).optional(),
  /** Why it could not be done; absent when it was. */
  failure: z.string().max(limits.bodyBytes).optional(),
});
export type CompleteBody = z.infer<typeof completeSchema>;

export const completeAnswerSchema = agentAnswerSchema.extend({
  /** Who was sent a mail about it by this request. */
  notified: z.array(z.object({ id: idSchema, alias: nameSchema })),
  /** False when it had been said before; then nothing changed. */
  isNew: z.boolean(),
});
export type CompleteAnswer = z.infer<typeof completeAnswerSchema>;
