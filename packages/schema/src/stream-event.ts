import * as z from 'zod';

/** What kind of error ended a turn, where that is known: it decides whether and how it is tried again. */
export const faults = ['limit', 'auth', 'transient', 'other'] as const;
export type Fault = (typeof faults)[number];

/** The one vocabulary that every provider's output is turned into. */
export const streamEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), providerSessionId: z.string() }),
  z.object({ type: z.literal('text-delta'), text: z.string() }),
  /** `piece`: a part of a text that never comes whole; the parts in a row are one text. */
  z.object({ type: z.literal('text'), text: z.string(), piece: z.literal(true).optional() }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  /** The provider repeats what it was told: so it has heard it. `uuid` is the name that we gave the line, where it had one. */
  z.object({ type: z.literal('echo'), text: z.string(), uuid: z.string().optional() }),
  /** `id` ties a result to its call; empty when the provider gives none. */
  z.object({ type: z.literal('tool-call'), id: z.string(), name: z.string(), input: z.string() }),
  z.object({ type: z.literal('tool-result'), id: z.string(), text: z.string(), isError: z.boolean() }),
  /**
   * What was used. `call`: by one model call, to be added up; `session`: by this process so far; `conversation`: since the
   * conversation began, in earlier processes too. Null says nothing about that number.
   */
  z.object({
    type: z.literal('usage'),
    scope: z.enum(['call', 'session', 'conversation']),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    cachedTokens: z.number().nullable(),
    costUsd: z.number().nullable(),
    turns: z.number().nullable(),
  }),
  /** A usage limit; `until` is null when the provider did not say when it ends. */
  z.object({ type: z.literal('limit'), until: z.number().nullable() }),
  /** The CLI itself tries a failed model call again. */
  z.object({ type: z.literal('retry'), text: z.string() }),
  /** The turn has ended, by the CLI's own word. `fault` says what kind of error it was, where the CLI tells. */
  z.object({
    type: z.literal('result'),
    ok: z.boolean(),
    text: z.string(),
    fault: z.enum(faults).nullable(),
  }),
  /** Anything else, kept as it was. */
  z.object({ type: z.literal('unknown'), text: z.string() }),
]);
export type StreamEvent = z.infer<typeof streamEventSchema>;
