import * as z from 'zod';

const count = z.number().int().nonnegative();

/** How full the context of a model is before a call. */
export const contextUsageSchema = z.object({
  /** `turn`: the next answer; `summary`: a summary of the conversation, since it nearly fills the context. */
  stage: z.enum(['turn', 'summary']),
  message_count: count,
  char_count: count,
  estimated_tokens: count,
  token_limit: count.optional(),
  /** A summary stands for the beginning of the conversation. */
  compressed: z.boolean(),
  summary_count: count,
});
export type ContextUsage = z.infer<typeof contextUsageSchema>;
