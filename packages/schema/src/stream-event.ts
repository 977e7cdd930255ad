import * as z from 'zod';
import { approvalKinds } from './approval/approval-kind.ts';
import { contextUsageSchema } from './runtime/context-usage.ts';
import { outcomeSchema } from './runtime/outcome.ts';

/** The kind of error that ended a turn, if known; decides about retries. */
export const faults = ['limit', 'auth', 'transient', 'other'] as const;
export type Fault = (typeof faults)[number];

/**
 * The whole message as JSON (`conversationMessageSchema`), if the fields have less: the input of a call, reasoning,
 * images. It is validated when it is used.
 */
const body = z.string().optional();
/** Names the answer of the engine that a part belongs to; the body of its last part is the whole answer. */
const answer = z.string().optional();

/** The common vocabulary for every provider's output. */
export const streamEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), providerSessionId: z.string() }),
  z.object({ type: z.literal('text-delta'), text: z.string() }),
  /** `piece`: a part of a text that never comes whole; consecutive parts are one text. */
  z.object({ type: z.literal('text'), text: z.string(), piece: z.literal(true).optional(), answer, body }),
  z.object({ type: z.literal('thinking'), text: z.string() }),
  /** The provider echoes its input, which confirms it. `uuid` is our id of the line, if it had one. */
  z.object({ type: z.literal('echo'), text: z.string(), uuid: z.string().optional() }),
  /** `id` links a result to its call; empty if the provider gives none. */
  z.object({ type: z.literal('tool-call'), id: z.string(), name: z.string(), input: z.string(), answer, body }),
  z.object({ type: z.literal('tool-result'), id: z.string(), text: z.string(), isError: z.boolean(), body }),
  /** Stands for everything that was said before. */
  z.object({ type: z.literal('summary'), text: z.string() }),
  /**
   * Usage. `call`: of one model call, to be added up; `session`: of this process so far; `conversation`: since its
   * start, including earlier processes. Null is unknown.
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
  /** How full the context of the next model call is. */
  z.object({ type: z.literal('context-usage'), usage: contextUsageSchema }),
  /** A usage limit; `until` is null if the provider did not give its end. */
  z.object({ type: z.literal('limit'), until: z.number().nullable() }),
  /** The CLI itself retries a failed model call. */
  z.object({ type: z.literal('retry'), text: z.string() }),
  /** The turn has ended, according to the CLI. `fault` is the kind of error, if it tells. */
  z.object({
    type: z.literal('result'),
    ok: z.boolean(),
    text: z.string(),
    fault: z.enum(faults).nullable(),
    /** How the agent says that its work has ended; absent if it only answered. */
    outcome: outcomeSchema.optional(),
  }),
  /** The CLI waits for an answer to this. `detail` is the tool's input as JSON; `tooLong` if it was not read. */
  z.object({
    type: z.literal('approval-request'),
    nativeId: z.string(),
    kind: z.enum(approvalKinds),
    tool: z.string(),
    title: z.string(),
    detail: z.string(),
    cwd: z.string().nullable(),
    owner: z.string().nullable(),
    tooLong: z.boolean(),
  }),
  /** The CLI no longer waits for an answer. */
  z.object({ type: z.literal('approval-cancel'), nativeId: z.string() }),
  /** Anything else, unchanged. */
  z.object({ type: z.literal('unknown'), text: z.string() }),
]);
export type StreamEvent = z.infer<typeof streamEventSchema>;
