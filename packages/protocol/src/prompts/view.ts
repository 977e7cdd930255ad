import { idSchema } from '@pawl/schema/id';
import { sessionSchema } from '@pawl/schema/record';
import * as z from 'zod';

export const promptQuerySchema = z.object({ session: z.coerce.number().int().positive().optional() });

/** The prompt of one session. */
export const promptViewSchema = z.object({
  agentId: idSchema,
  session: sessionSchema.pick({ no: true, purpose: true, conversation: true }),
  /** The addition to the CLI's own system prompt; empty if everything was the first turn. */
  system: z.string(),
  turn: z.string(),
  /** The length of both together; `truncated` if some of it is missing here. */
  bytes: z.number().int().nonnegative(),
  truncated: z.boolean(),
});
export type PromptView = z.infer<typeof promptViewSchema>;

/** The agent's current input files. */
export const inputViewSchema = z.object({
  agentId: idSchema,
  files: z.array(
    z.object({
      path: z.string(),
      bytes: z.number().int().nonnegative(),
      /** Null if it is not text. */
      content: z.string().nullable(),
      binary: z.boolean(),
      truncated: z.boolean(),
    }),
  ),
  truncated: z.boolean(),
});
export type InputView = z.infer<typeof inputViewSchema>;
