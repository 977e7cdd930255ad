import { toolEntry } from '@pawl/core/definitions/tool-name';
import { isCovered } from '@pawl/core/definitions/gate';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { ToolLimits } from '@pawl/providers/command';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';

/**
 * How a limit is kept: `hard` by the provider's own means, `hook` by asking Pawl before each call and nothing else,
 * `read-only` by keeping it from writing, `advisory` not at all, as the definition agreed to; `none` where there is none.
 */
export type Enforcement = 'none' | 'hard' | 'hook' | 'read-only' | 'advisory';

export type ToolGate = ToolLimits & {
  /** The provider is to be started in the mode in which it cannot write. */
  readOnly: boolean;
  /** The provider is to ask Pawl before each call. */
  hook: boolean;
  enforcement: Enforcement;
};

/** Tools that change nothing, in their canonical names; those of the web are denied by some modes without writing. */
const localTools = ['Read', 'Glob', 'Grep', 'TodoWrite', 'TodoRead'];
const readingTools = [...localTools, 'WebFetch', 'WebSearch'];

/**
 * What a provider is told of the tools that an agent may use. A limit that it cannot enforce is refused, not hoped for.
 * `servers` are the MCP servers that sessions are given beside Pawl's own.
 */
export function toolLimits(
  definition: Definition | null,
  preset: ProviderPreset,
  servers: readonly string[] = [],
): ToolGate {
  const allowed = definition === null || definition.tools.includes('*') ? null : definition.tools;
  const denied = definition?.deniedTools ?? [];
  const gate = { allowed, denied, readOnly: false, hook: false };
  if (definition === null || (allowed === null && denied.length === 0)) return { ...gate, enforcement: 'none' };
  const canRead = preset.access.readOnly !== null;
  const mayOnly = (tools: string[]) =>
    canRead && (allowed?.every((entry) => tools.includes(toolEntry(entry).name)) ?? false);
  if (preset.tools !== null || preset.hook !== null) {
    const hook = preset.hook !== null;
    const enforcement = preset.tools === null ? 'hook' : 'hard';
    // The mode is a second wall beside the others here, and must not take away what the definition gives.
    const readOnly = mayOnly(localTools);
    return { ...gate, ...(hook && flagsBesideHook(allowed, denied, servers)), readOnly, hook, enforcement };
  }
  const readOnly = mayOnly(readingTools);
  if (readOnly && isReadingAtLarge(allowed ?? [], denied)) return { ...gate, readOnly, enforcement: 'read-only' };
  if (definition.toolGate === 'advisory') return { ...gate, readOnly, enforcement: 'advisory' };
  throw new PawlError(
    'conflict',
    `The definition ${definition.id} limits its tools, and the provider ${preset.name} cannot enforce that.`,
    {
      hint:
        `Choose another provider, or accept it as advice with \`toolGate: advisory\` in the definition.` +
        (canRead ? ' It could only be kept from writing: Read, Glob and Grep without limits are enforced so.' : ''),
    },
  );
}

/**
 * Where a hook asks Pawl, the flags only take away whole tools: a list of tools to load takes names and drops what has a
 * limit in parentheses, and it says nothing of MCP tools. Where none is listed, each server is therefore denied by its name:
 * Pawl's own stays, whose tools are verbs that the daemon gates.
 */
function flagsBesideHook(
  allowed: string[] | null,
  denied: string[],
  servers: readonly string[],
): Pick<ToolLimits, 'allowed' | 'denied'> {
  if (allowed === null) return { allowed, denied };
  const names = [...new Set(allowed.map((entry) => toolEntry(entry).name))];
  const everyServer = names.some((name) => name.startsWith('mcp__')) ? [] : servers.map((name) => `mcp__${name}__*`);
  return { allowed: names, denied: [...new Set([...denied, ...everyServer])] };
}

/**
 * A mode without writing enforces "may read", and nothing finer: a part of the files, or searching without reading, it
 * cannot keep apart, and neither can it deny one of the ways to read.
 */
function isReadingAtLarge(allowed: string[], denied: string[]): boolean {
  if (!allowed.includes('Read') || allowed.some((entry) => toolEntry(entry).limit !== null)) return false;
  return denied.every((entry) => !isCovered(allowed, entry) && !isCovered([entry], 'Read'));
}
