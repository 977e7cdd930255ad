import { nameSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';

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
