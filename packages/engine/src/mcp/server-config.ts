import { existsSync, readFileSync, statSync } from 'node:fs';
import { messageOf, PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';

const text = z.string().max(8_192);
const texts = z.record(z.string(), text).default({});

const serverSchema = z.union([
  /** Pawl's own server, on the daemon's socket. */
  z.object({ socket: text.min(1) }),
  z.object({ url: z.url({ protocol: /^https?$/ }), headers: texts }),
  z.object({ command: text.min(1), args: z.array(text).max(200).default([]), env: texts }),
]);
export type ServerConfig = z.infer<typeof serverSchema>;

const fileSchema = z.object({
  mcpServers: z.record(z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/), serverSchema),
});

/** Reads MCP servers in Claude Code's format, by name. */
export function readServers(
  path: string,
  change: (value: unknown) => unknown = (value) => value,
): Record<string, ServerConfig> {
  try {
    if (statSync(path).size > engineLimits.configBytes) throw new Error('it is too large');
    return fileSchema.parse(change(JSON.parse(readFileSync(path, 'utf8')))).mcpServers;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new PawlError('invalid_input', `The MCP servers in ${path} cannot be read: ${why.slice(0, 1_000)}`, {
      hint: 'Write them in the form {"mcpServers":{"name":{"command":"…","args":[]}}}.',
      cause: error,
    });
  }
}

/**
 * Reads the MCP servers of a repository (`.mcp.json`), with variables filled in. A file that cannot be read is
 * reported, and stops nothing.
 */
export function readProjectServers(
  path: string | undefined,
  env: Record<string, string | undefined>,
  report: (problem: string) => void,
): Record<string, ServerConfig> {
  if (path === undefined || !existsSync(path)) return {};
  try {
    const servers = Object.entries(readServers(path, (value) => filled(value, env)));
    // The daemon's socket is for Pawl's own server alone.
    return Object.fromEntries(servers.filter(([, server]) => !('socket' in server)));
  } catch (error) {
    report(messageOf(error));
    return {};
  }
}

/** Fills `${NAME}` and `${NAME:-otherwise}` in all texts. A variable that is not set stays as it is written. */
function filled(value: unknown, env: Record<string, string | undefined>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(
      /\$\{(\w+)(?::-([^}]*))?\}/g,
      (written, name: string, otherwise?: string) => env[name] || (otherwise ?? written),
    );
  if (Array.isArray(value)) return value.map((each) => filled(each, env));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, env)]));
}
