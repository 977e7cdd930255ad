import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** A custom provider that cannot be used, and why. */
export type ProviderProblem = { name: string; reason: string };

/** The providers of one daemon, by name. */
export type Providers = {
  get(name: string): ProviderPreset;
  /** Like `get`, but null if this program does not know the provider (any more). */
  find(name: string | null): ProviderPreset | null;
  list(): ProviderPreset[];
  /** The entries of `config.yaml` that were skipped. */
  problems(): ProviderProblem[];
};

/** Collects presets; an unknown name is refused with the list of known ones. */
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
          : `The provider ${name} in config.yaml is invalid: ${problem.reason}`,
        { hint: `Known providers: ${[...byName.keys()].join(', ')}.` },
      );
    },
    find: (name) => byName.get(name ?? '') ?? null,
    list: () => [...byName.values()],
    problems: () => problems,
  };
}
