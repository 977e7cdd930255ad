import * as z from 'zod';

/** The one vocabulary that every provider's output is turned into. */
export const streamEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), providerSessionId: z.string() }),
  z.object({ type: z.literal('text-delta'), text: z.string() }),
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  /** The provider repeats what it was told. */
  z.object({ type: z.literal('echo'), text: z.string() }),
  /** `id` ties a result to its call; empty when the provider gives none. */
  z.object({ type: z.literal('tool-call'), id: z.string(), name: z.string(), input: z.string() }),
  z.object({ type: z.literal('tool-result'), id: z.string(), text: z.string(), isError: z.boolean() }),
  z.object({
    type: z.literal('usage'),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cachedTokens: z.number(),
    costUsd: z.number(),
    turns: z.number(),
  }),
  /** A usage limit; `until` is null when the provider did not say when it ends. */
  z.object({ type: z.literal('limit'), until: z.number().nullable() }),
  z.object({ type: z.literal('retry'), text: z.string() }),
  z.object({ type: z.literal('result'), ok: z.boolean(), text: z.string() }),
  /** Anything else, kept as it was. */
  z.object({ type: z.literal('unknown'), text: z.string() }),
]);
export type StreamEvent = z.infer<typeof streamEventSchema>;
