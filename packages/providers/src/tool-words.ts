import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { ToolLimits } from './command.ts';
import { fill } from './words.ts';

/** The arguments that limit a CLI's tools. */
export function toolWords({ name, tools }: ProviderPreset, { allowed, denied }: ToolLimits): string[] {
  if (tools === null) return [];
  const list = (entries: string[]) => entries.map((entry) => ownName(name, tools.names, entry)).join(',');
  return [
    ...(allowed === null ? [] : fill(tools.allow, { tools: list(allowed) })),
    ...(denied.length === 0 ? [] : fill(tools.deny, { tools: list(denied) })),
  ];
}

function ownName(provider: string, names: Record<string, string> | undefined, entry: string): string {
  if (names === undefined) return entry;
  if (entry.includes('(')) {
    throw new PawlError('conflict', `The provider ${provider} cannot limit a tool to some arguments, as in ${entry}.`, {
      hint: 'Allow or deny the whole tool, or choose another provider.',
    });
  }
  return Object.hasOwn(names, entry) ? (names[entry] ?? entry) : entry;
}
