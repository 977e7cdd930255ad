import type { ProviderPreset } from '@pawl/core/port/provider';
import type { RealCli } from '../clis.ts';
import type { RealWorkshop } from '../workshop.ts';

/**
 * Adds a test of one capability to those of a CLI. `offered` is false, or says why, where the CLI has no such thing; a
 * test may give a note.
 */
export type AddCapability = (title: string, offered: boolean | string, body: () => Promise<string | void>) => void;

/** A CLI under test: its presets, its workshop, and how a capability is added. */
export type Trial = {
  name: string;
  cli: RealCli;
  preset: ProviderPreset;
  /** The preset that takes messages in mid-turn. */
  live: ProviderPreset | null;
  shop(): RealWorkshop;
  capability: AddCapability;
};

/** How many turns of the user a second message makes: a conversation that is told in words is one turn. */
export function secondTurn({ resume }: ProviderPreset): number {
  return resume === null ? 1 : 2;
}
