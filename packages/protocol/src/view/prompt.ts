import { idSchema } from '@pawl/schema/id';
import { sessionSchema } from '@pawl/schema/record';
import * as z from 'zod';

export const promptQuerySchema = z.object({ session: z.coerce.number().int().positive().optional() });

/** What an agent was told at the beginning of one session. */
export const promptViewSchema = z.object({
  agentId: idSchema,
  session: sessionSchema.pick({ no: true, purpose: true, conversation: true }),
  /** What was added to the CLI's own system prompt; empty where everything was the first turn. */
  system: z.string(),
  turn: z.string(),
  /** How long both are together; `truncated` when not all of it is here. */
  bytes: z.number().int().nonnegative(),
  truncated: z.boolean(),
});
export type PromptView = z.infer<typeof promptViewSchema>;

/** The files that an agent was given, as they are now. */
export const inputViewSchema = z.object({
  agentId: idSchema,
  files: z.array(
    z.object({
      path: z.string(),
      bytes: z.number().int().nonnegative(),
      /** Null when it is no text. */
      content: z.string().nullable(),
      binary: z.boolean(),
      truncated: z.boolean(),
    }),
  ),
  truncated: z.boolean(),
});
export type InputView = z.infer<typeof inputViewSchema>;
