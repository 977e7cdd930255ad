import type { McpFormat } from '@pawl/core/port/provider';
import { fill } from './words.ts';

/** A tool server for the model. */
export type McpServer =
  /**
   * `inherit` are variables that its session also has: if the CLI passes them on, their values are not written down.
   * `socket`: the same server on a unix socket, for a CLI that needs no program to reach it.
   */
  | {
      command: string;
      args: string[];
      env: Record<string, string>;
      inherit?: Record<string, string>;
      socket?: string;
    }
  | { url: string; headers: Record<string, string> };

type Servers = Record<string, McpServer>;
type Described = { words: string[]; env: Record<string, string> };
/** Writes a file into the session's directory, and returns its path. */
type Keep = (path: string, content: string) => string;

/**
 * Describes MCP servers in a CLI's own format. Possible secrets, which are environment and headers, go into files and
 * variables, never into arguments.
 */
export function describeServers(format: McpFormat | null, servers: Servers, keep: Keep): Described {
  const isEmpty = Object.keys(servers).length === 0;
  switch (format?.format) {
    case undefined:
      return { words: [], env: {} };
    case 'claude':
    case 'copilot':
    case 'pawl': {
      if (isEmpty) return { words: [], env: {} };
      const forms = { claude: claudeServer(format.variables), copilot: copilotServer, pawl: pawlServer };
      const form = forms[format.format];
      const file = keep('mcp.json', JSON.stringify({ mcpServers: mapServers(servers, form) }));
      return { words: fill(format.arguments, { file }), env: {} };
    }
    case 'codex':
      return codexWords(servers, keep);
    case 'gemini': {
      if (isEmpty && format.settings === undefined) return { words: [], env: {} };
      const settings = { ...format.settings, mcpServers: mapServers(servers, geminiServer) };
      return { words: [], env: { [format.variable]: keep('gemini-settings.json', JSON.stringify(settings)) } };
    }
    case 'opencode': {
      if (isEmpty && format.settings === undefined) return { words: [], env: {} };
      const settings = { ...format.settings, mcp: mapServers(servers, opencodeServer) };
      return { words: [], env: { [format.variable]: JSON.stringify(settings) } };
    }
  }
}

function mapServers(servers: Servers, form: (server: McpServer) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, form(server)]));
}

/** Claude's format, which many use. Most of them pass their environment on to servers. */
function claudeServer(variables: 'named' | 'written' | undefined): (server: McpServer) => object {
  return (server) => {
    if ('url' in server) return { type: 'http', ...server };
    const { command, args, env, inherit = {} } = server;
    if (variables === 'written') return { command, args, env: { ...inherit, ...env } };
    const names = Object.keys(inherit);
    return { command, args, env, ...(variables === 'named' && names.length > 0 ? { env_vars: names } : {}) };
  };
}

/** The same, except that the engine reaches Pawl's own server by its socket, with the token of its environment. */
function pawlServer(server: McpServer): object {
  return 'socket' in server && server.socket !== undefined
    ? { socket: server.socket }
    : claudeServer(undefined)(server);
}

/** The same with a tool list, which it requires. It passes no variables on, but fills in named ones. */
function copilotServer(server: McpServer): object {
  if ('url' in server) return { type: 'http', ...server, tools: ['*'] };
  const { command, args } = server;
  return { type: 'local', command, args, env: withPlaceholders(server), tools: ['*'] };
}

/** Its settings may name variables; by itself it passes on none that look like a secret. */
function geminiServer(server: McpServer): object {
  if ('url' in server) return { httpUrl: server.url, headers: server.headers };
  const { command, args } = server;
  return { command, args, env: withPlaceholders(server) };
}

function withPlaceholders({ env, inherit = {} }: Extract<McpServer, { command: string }>): Record<string, string> {
  return { ...Object.fromEntries(Object.keys(inherit).map((name) => [name, `\${${name}}`])), ...env };
}

function opencodeServer(server: McpServer): object {
  return 'url' in server
    ? { type: 'remote', ...server, enabled: true }
    : { type: 'local', command: [server.command, ...server.args], environment: server.env, enabled: true };
}

/**
 * Codex takes servers only as arguments. It reads headers from variables; a shell reads a program's variables from a
 * file.
 */
function codexWords(servers: Servers, keep: Keep): Described {
  const words: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, server] of Object.entries(servers)) {
    const fields =
      'url' in server
        ? { url: server.url, env_http_headers: headerVariables(server.headers, env) }
        : { ...commandWithEnvironment(name, server, keep), ...passedOn(server) };
    words.push('-c', `mcp_servers.${name}=${toml(fields)}`);
  }
  return { words, env };
}

/** It passes a few of its own variables to a server, plus the named ones. */
function passedOn({ inherit = {} }: Extract<McpServer, { command: string }>): { env_vars?: string[] } {
  const names = Object.keys(inherit);
  return names.length === 0 ? {} : { env_vars: names };
}

function headerVariables(headers: Record<string, string>, env: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([header, value]) => {
    const variable = `PAWL_MCP_HEADER_${Object.keys(env).length + 1}`;
    env[variable] = value;
    return [header, variable];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function commandWithEnvironment(
  name: string,
  { command, args, env }: Extract<McpServer, { command: string }>,
  keep: Keep,
): { command: string; args: string[] } {
  const lines = Object.entries(env).map(([key, value]) => `export ${key}='${value.replaceAll("'", `'\\''`)}'\n`);
  if (lines.length === 0) return { command, args };
  const file = keep(`mcp-${name}.env`, lines.join(''));
  return { command: '/bin/sh', args: ['-c', '. "$0"; exec "$@"', file, command, ...args] };
}

/** A value in TOML on one line; TOML strings are JSON strings. */
function toml(value: string | string[] | Record<string, unknown>): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toml).join(',')}]`;
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}=${toml(each as string)}`);
  return `{${pairs.join(',')}}`;
}
