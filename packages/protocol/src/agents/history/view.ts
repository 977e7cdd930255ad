import { idSchema, nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { messageSchema } from '@pawl/schema/record';
import * as z from 'zod';

/** A page of an agent's history, oldest first; inherited messages before its own. */
export const historyPageSchema = z.object({
  agentId: idSchema,
  alias: nameSchema,
  assignment: z.string().nullable(),
  inherited: z.number().int(),
  own: z.number().int(),
  messages: z.array(
    messageSchema.extend({
      inherited: z.boolean(),
      /** With `all`: why the agent no longer remembers it; null if it does. */
      forgotten: z.enum(['cleared', 'rewound', 'summarised']).nullable().optional(),
    }),
  ),
  more: z.boolean(),
});
export type HistoryPage = z.infer<typeof historyPageSchema>;

export const markSchema = z.object({ label: z.string().max(limits.labelCharacters).optional() });

export const noteAnswerSchema = z.object({ messageId: z.number().int() });

export const emptySchema = z.object({});
