import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** A provider of a person's own that cannot be used, and why. */
export type ProviderProblem = { name: string; reason: string };

/** The providers of one daemon, by name. */
export type Providers = {
  get(name: string): ProviderPreset;
  /** The same for what was started earlier: null when this program does not know the provider (any more). */
  find(name: string | null): ProviderPreset | null;
  list(): ProviderPreset[];
  /** The entries of `config.yaml` that were left out. */
  problems(): ProviderProblem[];
};

/** Collects presets; a name that none of them has is a person's mistake and is answered with the ones there are. */
export function providerRegistry(presets: ProviderPreset[], problems: ProviderProblem[] = []): Providers {
  const byName = new Map(presets.map((preset) => [preset.name, preset]));
  return {
    get(name) {
      const preset = byName.get(name);
      if (preset !== undefined) return preset;
      const problem = problems.find((each) => each.name === name);
      throw new PawlError(
        'unknown_provider',
        problem === undefined
          ? `There is no provider ${JSON.stringify(name.slice(0, 80))}.`
          : `The provider ${name} in config.yaml is not right: ${problem.reason}`,
        { hint: `Known providers: ${[...byName.keys()].join(', ')}.` },
      );
    },
    find: (name) => byName.get(name ?? '') ?? null,
    list: () => [...byName.values()],
    problems: () => problems,
  };
}
