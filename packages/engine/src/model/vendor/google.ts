import { createGoogle } from '@ai-sdk/google';
import { withVersion } from '../base-url.ts';
import type { VendorModel, VendorSettings } from '../vendor-model.ts';

/** Google's Gemini API. It has no option to ask for a single call. */
export function openModel({ apiKey, baseUrl, model, fetch }: VendorSettings): VendorModel {
  return {
    languageModel: createGoogle({ apiKey, fetch, ...withVersion(baseUrl, 'v1beta') })(model),
    options: () => ({}),
    markCache: (prompt) => prompt,
  };
}
