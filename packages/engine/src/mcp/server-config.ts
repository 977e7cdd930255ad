import { readFileSync, statSync } from 'node:fs';
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
export function readServers(path: string): Record<string, ServerConfig> {
  try {
    if (statSync(path).size > engineLimits.configBytes) throw new Error('it is too large');
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).mcpServers;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new PawlError('invalid_input', `The MCP servers in ${path} cannot be read: ${why.slice(0, 1_000)}`, {
      hint: 'Write them in the form {"mcpServers":{"name":{"command":"…","args":[]}}}.',
      cause: error,
    });
  }
}
