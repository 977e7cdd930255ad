import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** The providers of one daemon, by name. */
export type Providers = { get(name: string): ProviderPreset; list(): ProviderPreset[] };

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
    list: () => [...byName.values()],
  };
}
