import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { withVersion } from '../base-url.ts';
import type { VendorModel, VendorSettings } from '../vendor-model.ts';

/** Anthropic's Messages API. */
export function openModel({ apiKey, baseUrl, model, fetch }: VendorSettings): VendorModel {
  return {
    languageModel: createAnthropic({ apiKey, fetch, ...withVersion(baseUrl, 'v1') })(model),
    options: ({ oneCall }) => ({ anthropic: { disableParallelToolUse: oneCall } }),
    markCache,
  };
}

/** Marks the system prompt and the end of the prompt: the next call repeats everything up to there. */
function markCache(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  return prompt.map((message, index) =>
    message.role === 'system' || index === prompt.length - 1 ? { ...message, providerOptions } : message,
  );
}
