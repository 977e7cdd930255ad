import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { outputStreams, timeSchema } from '@pawl/schema/record';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as z from 'zod';
import { agentViewSchema } from '../agents/view.ts';

const outputChunkSchema = z.object({
  id: z.number().int(),
  sessionNo: z.number().int(),
  stream: z.enum(outputStreams),
  offset: z.number().int(),
  at: timeSchema,
  /** With `format=raw`: the chunk's text; invalid UTF-8 shows as U+FFFD, and `base64` then has the exact bytes. */
  content: z.string().optional(),
  base64: z.string().optional(),
  /** With `format=events`: the parsed events. */
  events: z.array(streamEventSchema).optional(),
});
export type OutputChunk = z.infer<typeof outputChunkSchema>;

export const outputPageSchema = z.object({
  chunks: z.array(outputChunkSchema),
  /** More output is stored beyond this page. */
  more: z.boolean(),
  /** The agent is not working, so nothing follows unless it is resumed. */
  ended: z.boolean(),
});
export type OutputPage = z.infer<typeof outputPageSchema>;

/** The resource use of running agents. */
export const topSchema = z.object({
  daemon: z.object({ memoryBytes: z.number().int(), uptimeMs: z.number().int() }),
  counts: z.record(z.string(), z.number().int()),
  agents: z.array(
    agentViewSchema.extend({
      cpuMs: z.number().nullable(),
      memoryBytes: z.number().int().nullable(),
      processes: z.number().int(),
    }),
  ),
});
export type Top = z.infer<typeof topSchema>;

/** The PATH of the requesting shell, where programs are looked up. */
export const providerQuerySchema = z.object({ searchPath: z.string().max(limits.searchPathCharacters).optional() });

const providerViewSchema = z.object({
  name: nameSchema,
  description: z.string(),
  /** The program and its path; null if it is not on the caller's PATH. */
  program: z.string(),
  path: z.string().nullable(),
  version: z.string().nullable(),
  /** The command that installs it. */
  install: z.string().nullable(),
  /** The default provider. */
  isDefault: z.boolean(),
  capabilities: z.object({
    resume: z.boolean(),
    fork: z.enum(['native', 'replay', 'none']),
    /** Whether a running turn takes messages. */
    liveFollowUps: z.boolean(),
    systemPrompt: z.boolean(),
    mcp: z.boolean(),
    toolGate: z.enum(['hard', 'read-only', 'none']),
    chosenSessionId: z.boolean(),
    accounts: z.array(z.enum(['key', 'token', 'directory'])),
    reportsCost: z.boolean(),
    reportsTokens: z.boolean(),
  }),
  options: z.array(z.string()),
});
export type ProviderView = z.infer<typeof providerViewSchema>;

/** The providers, and the skipped entries of `config.yaml`. */
export const providerListSchema = z.object({
  providers: z.array(providerViewSchema),
  problems: z.array(z.object({ name: z.string(), reason: z.string() })),
});
export type ProviderList = z.infer<typeof providerListSchema>;
