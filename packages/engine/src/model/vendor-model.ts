import type { LanguageModelV4, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ModelAccess, ModelChoice, Vendor } from './model-choice.ts';

/** A model of a vendor, ready to be called. */
export type VendorModel = {
  languageModel: LanguageModelV4;
  /** The vendor's options of each call. `oneCall` asks for at most one tool call in an answer. */
  options(given: { oneCall: boolean; cacheKey: string }): SharedV4ProviderOptions;
  /** Marks the parts of a prompt that the vendor should cache, where it has such marks. */
  markCache(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt;
};

export type VendorSettings = ModelAccess & { model: string; fetch: typeof fetch };

/** Loads the code of one vendor only: the others would slow the start. */
const load: Record<Vendor, () => Promise<{ openModel: (settings: VendorSettings) => VendorModel }>> = {
  anthropic: () => import('./vendor/anthropic.ts'),
  openai: () => import('./vendor/openai.ts'),
  'openai-chat': () => import('./vendor/openai-chat.ts'),
  google: () => import('./vendor/google.ts'),
  compatible: () => import('./vendor/compatible.ts'),
};

export async function openVendorModel(
  { vendor, model }: ModelChoice,
  access: ModelAccess,
  useFetch: typeof fetch = fetch,
): Promise<VendorModel> {
  const { openModel } = await load[vendor]();
  return openModel({ ...access, model, fetch: useFetch });
}
