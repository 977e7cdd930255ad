import { readFileSync, statSync } from 'node:fs';
import { messageOf, PawlError } from '@pawl/schema/error';
import { at, isObject, listAt, parseObject, textAt } from './json.ts';
import { bridgeLimits } from './limit.ts';
import type { McpServer } from './protocol.ts';

/** The text of a file named on the command line; empty if none. */
export function readInputFile(path: string | null): string {
  if (path === null) return '';
  try {
    if (statSync(path).size > bridgeLimits.fileBytes)
      throw new Error(`it is larger than ${bridgeLimits.fileBytes} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PawlError('invalid_input', `${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Name a readable file.',
      cause: error,
    });
  }
}

/** Parses MCP servers in Claude Code's format, `{"mcpServers":{"name":{"command":…}}}`. */
export function parseMcpServers(text: string): McpServer[] {
  if (text === '') return [];
  const servers = at(parseObject(text), 'mcpServers');
  if (!isObject(servers)) {
    throw new PawlError('invalid_input', 'The MCP file has no "mcpServers".', {
      hint: 'Write it in the form {"mcpServers":{"name":{"command":"…","args":[]}}}.',
    });
  }
  return Object.entries(servers).map(([name, server]) => parseServer(name, server));
}

function parseServer(name: string, server: unknown): McpServer {
  const url = textAt(server, 'url');
  if (url !== '') {
    const type = at(server, 'type') === 'sse' ? 'sse' : 'http';
    return { name, type, url, headers: texts(at(server, 'headers')) };
  }
  const command = textAt(server, 'command');
  if (command === '') {
    throw new PawlError('invalid_input', `The MCP server ${name} has neither a command nor a url.`, {
      hint: 'Give it one of the two.',
    });
  }
  const args = listAt(server, 'args').map(String);
  const inherit = listAt(server, 'env_vars').map(String);
  return { name, type: 'stdio', command, args, env: texts(at(server, 'env')), inherit };
}

function texts(value: unknown): Record<string, string> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {};
}
