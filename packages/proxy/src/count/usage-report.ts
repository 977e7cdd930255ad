import * as z from 'zod';
import type { TokenCount } from './token-count.ts';

const amount = z.number().int().nonnegative().max(1e12).optional().catch(undefined);
const details = z.object({ cached_tokens: amount }).optional().catch(undefined);

/** The numbers of Anthropic's messages, and OpenAI's responses and chat completions. */
const usageSchema = z.object({
  input_tokens: amount,
  cache_creation_input_tokens: amount,
  cache_read_input_tokens: amount,
  output_tokens: amount,
  input_tokens_details: details,
  prompt_tokens: amount,
  completion_tokens: amount,
  prompt_tokens_details: details,
});

/** The numbers of Gemini. */
const metadataSchema = z.object({
  promptTokenCount: amount,
  cachedContentTokenCount: amount,
  candidatesTokenCount: amount,
  thoughtsTokenCount: amount,
});

const holder = { usage: usageSchema.nullish().catch(null) };
const reportSchema = z.object({
  ...holder,
  message: z.object(holder).nullish().catch(null),
  response: z
    .object({ ...holder, usageMetadata: metadataSchema.nullish().catch(null) })
    .nullish()
    .catch(null),
  usageMetadata: metadataSchema.nullish().catch(null),
});

/** Numbers that a part of an answer reports; later ones replace earlier ones of the same call. */
export type UsageReport = Partial<TokenCount>;

/** Finds the usage in an answer, or in one event of a streamed answer; null if it has none. */
export function usageReport(value: unknown): UsageReport | null {
  const { data } = reportSchema.safeParse(Array.isArray(value) ? value.findLast(hasUsage) : value);
  if (data === undefined) return null;
  const metadata = data.usageMetadata ?? data.response?.usageMetadata;
  if (metadata !== null && metadata !== undefined) return ofGemini(metadata);
  const usage = data.usage ?? data.message?.usage ?? data.response?.usage;
  return usage === null || usage === undefined ? null : ofTokens(usage);
}

function hasUsage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'usageMetadata' in value;
}

function ofGemini(told: z.infer<typeof metadataSchema>): UsageReport {
  const cached = told.cachedContentTokenCount ?? 0;
  return withoutUnknown({
    input: less(told.promptTokenCount, cached),
    cached,
    output: sum(told.candidatesTokenCount, told.thoughtsTokenCount),
  });
}

function ofTokens(told: z.infer<typeof usageSchema>): UsageReport {
  // OpenAI counts cached tokens as input, too; Anthropic does not.
  const included = told.input_tokens_details?.cached_tokens ?? told.prompt_tokens_details?.cached_tokens;
  return withoutUnknown({
    input: sum(less(told.input_tokens ?? told.prompt_tokens, included ?? 0), told.cache_creation_input_tokens),
    cached: included ?? told.cache_read_input_tokens,
    output: told.output_tokens ?? told.completion_tokens,
  });
}

function less(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : Math.max(0, value - by);
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}

function withoutUnknown(report: Record<keyof TokenCount, number | undefined>): UsageReport {
  return Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined));
}
