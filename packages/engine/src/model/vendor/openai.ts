import { createOpenAI } from '@ai-sdk/openai';
import { withVersion } from '../base-url.ts';
import type { VendorModel, VendorSettings } from '../vendor-model.ts';

/** OpenAI's Responses API, without anything stored at the vendor: the conversation is ours. */
export function openModel({ apiKey, baseUrl, model, fetch }: VendorSettings): VendorModel {
  return {
    languageModel: createOpenAI({ apiKey, fetch, ...withVersion(baseUrl, 'v1') }).responses(model),
    options: ({ oneCall, cacheKey }) => ({
      openai: { store: false, parallelToolCalls: !oneCall, promptCacheKey: cacheKey },
    }),
    markCache: (prompt) => prompt,
  };
}
