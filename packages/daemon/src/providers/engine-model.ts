import type { ProviderPreset } from '@pawl/core/port/provider';
import type { NamedModel } from '@pawl/schema/model/named-model';
import type { Platform } from '../platform/platform.ts';

/** A model of the engine, resolved: the words for its command line and environment. */
export type EngineModel = {
  model: string | null;
  account: string | null;
  options: Record<string, string>;
  env: Record<string, string>;
};

/** Resolves the name of a model, or the default one, for the provider `pawl`; other providers know their own. */
export async function engineModel(
  platform: Pick<Platform, 'currentChoices'>,
  preset: Pick<ProviderPreset, 'name' | 'account'>,
  asked: string | null,
): Promise<EngineModel> {
  const plain = { account: null, options: {}, env: {} };
  if (preset.name !== 'pawl') return { ...plain, model: asked };
  const { models, defaultModel } = await platform.currentChoices();
  const wanted = asked ?? defaultModel;
  const named = wanted !== null && Object.hasOwn(models, wanted) ? models[wanted] : undefined;
  if (named === undefined) return { ...plain, model: wanted };
  const variable = preset.account?.baseUrl ?? null;
  return {
    model: named.model,
    account: named.account,
    options: optionsOf(named),
    env: named.base_url === null || variable === null ? {} : { [variable]: named.base_url },
  };
}

function optionsOf({ context_tokens: context, usd_per_million: price }: NamedModel): Record<string, string> {
  return {
    ...(context === null ? {} : { 'context-tokens': String(context) }),
    ...(price === null ? {} : { price: [price.input, price.output, price.cached ?? price.input].join('/') }),
  };
}
