import type { ProviderPreset } from '@pawl/core/port/provider';
import type { ToolLimits } from '@pawl/providers/command';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';

/** What a provider is told of the tools that an agent may use. A limit that it cannot enforce is refused, not hoped for. */
export function toolLimits(definition: Definition | null, preset: ProviderPreset): ToolLimits {
  if (definition === null) return { allowed: null, denied: [] };
  const allowed = definition.tools.includes('*') ? null : definition.tools;
  const denied = definition.deniedTools;
  const limited = allowed !== null || denied.length > 0;
  if (!limited || preset.tools !== null || definition.toolGate === 'advisory') return { allowed, denied };
  throw new PawlError(
    'conflict',
    `The definition ${definition.id} limits its tools, and the provider ${preset.name} cannot enforce that.`,
    {
      hint: 'Choose another provider, or accept it as advice with `toolGate: advisory` in the definition.',
    },
  );
}
