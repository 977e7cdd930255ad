import { createOpenAI } from '@ai-sdk/openai';
import { withVersion } from '../base-url.ts';
import type { VendorModel, VendorSettings } from '../vendor-model.ts';

/** OpenAI's Chat Completions API. */
export function openModel({ apiKey, baseUrl, model, fetch }: VendorSettings): VendorModel {
  return {
    languageModel: createOpenAI({ apiKey, fetch, ...withVersion(baseUrl, 'v1') }).chat(model),
    options: ({ oneCall, cacheKey }) => ({ openai: { parallelToolCalls: !oneCall, promptCacheKey: cacheKey } }),
    markCache: (prompt) => prompt,
  };
}
