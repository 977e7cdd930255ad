import * as z from 'zod';
import { nameSchema } from '../id.ts';

/** The formats of requests that the engine writes. */
export const modelVendors = ['anthropic', 'openai', 'openai-chat', 'google', 'compatible'] as const;

/** A model as `VENDOR/MODEL`; the vendor may be missing if the name tells it. */
const modelName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w.:@/-]*$/, 'a model is VENDOR/MODEL, as in anthropic/claude-sonnet-4-5');

const usd = z.number().min(0).max(100_000);

/** A model of the engine, under a name that a person chose. */
export const namedModelSchema = z.strictObject({
  model: modelName,
  /** The account of the provider `pawl` with its key; by default the provider's default one. */
  account: nameSchema.nullable().default(null),
  /** The address of a server that needs no account. */
  base_url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  context_tokens: z.number().int().min(1_000).max(100_000_000).nullable().default(null),
  /** Dollars for a million tokens; cached ones cost as much as others, unless `cached` says otherwise. */
  usd_per_million: z.strictObject({ input: usd, output: usd, cached: usd.optional() }).nullable().default(null),
});
export type NamedModel = z.infer<typeof namedModelSchema>;

export const namedModelsSchema = z.record(nameSchema, namedModelSchema);

/** Servers that speak OpenAI's Chat Completions, and where they usually listen. */
export const modelServers: Record<string, { baseUrl: string; needsKey: boolean }> = {
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  'llama.cpp': { baseUrl: 'http://127.0.0.1:8080/v1', needsKey: false },
  vllm: { baseUrl: 'http://127.0.0.1:8000/v1', needsKey: false },
  lmstudio: { baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', needsKey: true },
};
