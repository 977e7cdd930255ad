import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { VendorModel, VendorSettings } from '../vendor-model.ts';

/** Any server that speaks OpenAI's Chat Completions: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter. */
export function openModel({ apiKey, baseUrl = '', model, fetch }: VendorSettings): VendorModel {
  const provider = createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl.replace(/\/+$/, ''),
    includeUsage: true,
    fetch,
    ...(apiKey === '' ? {} : { apiKey }),
  });
  return { languageModel: provider(model), options: () => ({}), markCache: (prompt) => prompt };
}
