import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** The providers of one daemon, by name. */
export type Providers = {
  get(name: string): ProviderPreset;
  /** The same for what was started earlier: null when this program does not know the provider (any more). */
  find(name: string | null): ProviderPreset | null;
};

/** Collects presets; a name that none of them has is a person's mistake and is answered with the ones there are. */
export function providerRegistry(presets: ProviderPreset[]): Providers {
  const byName = new Map(presets.map((preset) => [preset.name, preset]));
  return {
    get(name) {
      const preset = byName.get(name);
      if (preset !== undefined) return preset;
      throw new PawlError('unknown_provider', `There is no provider ${JSON.stringify(name.slice(0, 80))}.`, {
        hint: `Known providers: ${[...byName.keys()].join(', ')}.`,
      });
    },
    find: (name) => byName.get(name ?? '') ?? null,
  };
}
