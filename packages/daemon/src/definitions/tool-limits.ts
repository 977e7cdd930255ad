import { toolEntry } from '@pawl/core/definitions/tool-name';
import { isCovered } from '@pawl/core/definitions/gate';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { ToolLimits } from '@pawl/providers/command';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';

/**
 * How a limit is enforced: `hard` by the provider itself, `hook` only by asking Pawl before each call, `read-only` by a
 * mode without writing, `advisory` not at all, with the definition's consent; `none` if there is no limit.
 */
export type Enforcement = 'none' | 'hard' | 'hook' | 'read-only' | 'advisory';

export type ToolGate = ToolLimits & {
  /** Starts the provider in a mode that cannot write. */
  readOnly: boolean;
  /** Makes the provider ask Pawl before each call. */
  hook: boolean;
  enforcement: Enforcement;
};

/** Tools that change nothing, by canonical name; some read-only modes also deny the web tools. */
const localTools = ['Read', 'Glob', 'Grep', 'TodoWrite', 'TodoRead'];
const readingTools = [...localTools, 'WebFetch', 'WebSearch'];

/**
 * The tool limits for a provider. Refuses a limit that the provider cannot enforce. `servers` are the MCP servers of
 * the session besides Pawl's own.
 */
export function toolLimits(
  definition: Definition | null,
  preset: ProviderPreset,
  servers: readonly string[] = [],
): ToolGate {
  const allowed = definition === null || definition.tools.includes('*') ? null : definition.tools;
  const denied = definition?.deniedTools ?? [];
  const gate = { allowed, denied, readOnly: false, hook: false };
  if (definition === null || (allowed === null && denied.length === 0)) {
    // The path is judged before each write, if the provider can ask.
    const asks = preset.hook !== null && definition !== null && hasWriteScope(definition);
    return { ...gate, hook: asks, enforcement: 'none' };
  }
  const canRead = preset.access.readOnly !== null;
  const mayOnly = (tools: string[]) =>
    canRead && (allowed?.every((entry) => tools.includes(toolEntry(entry).name)) ?? false);
  if (preset.tools !== null || preset.hook !== null) {
    const hook = preset.hook !== null;
    const enforcement = preset.tools === null ? 'hook' : 'hard';
    // The mode is an additional protection here, and must not remove what the definition allows.
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
        `Choose another provider, or accept no enforcement with \`toolGate: advisory\` in the definition.` +
        (canRead ? ' It has a read-only mode, which enforces Read, Glob and Grep without limits.' : ''),
    },
  );
}

/** True if a definition limits where its agents write, or locks paths for them. */
function hasWriteScope({ workGlobs, lockGlobs }: Definition): boolean {
  return workGlobs.length > 0 || lockGlobs.length > 0;
}

/**
 * With a hook, the flags only remove whole tools: a list of tools to load takes names, drops entries with a limit in
 * parentheses, and does not cover MCP tools. If none is listed, each server is therefore denied by name, except Pawl's
 * own, whose tools the daemon checks.
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
 * A read-only mode enforces "may read" and nothing finer: it cannot limit reading to some files, allow searching
 * without reading, or deny one way to read.
 */
function isReadingAtLarge(allowed: string[], denied: string[]): boolean {
  if (!allowed.includes('Read') || allowed.some((entry) => toolEntry(entry).limit !== null)) return false;
  return denied.every((entry) => !isCovered(allowed, entry) && !isCovered([entry], 'Read'));
}
