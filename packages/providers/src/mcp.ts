import type { McpFormat } from '@pawl/core/port/provider';

/** A server of tools for the model. */
export type McpServer =
  | { command: string; args: string[]; env: Record<string, string> }
  | { url: string; headers: Record<string, string> };

type Servers = Record<string, McpServer>;
type Described = { words: string[]; env: Record<string, string> };
/** Keeps a file in the session's directory, and gives its path. */
type Keep = (path: string, content: string) => string;

/**
 * Tells a CLI of MCP servers in its own way. Whatever of a server may be secret, which is its environment and its headers, is
 * in files and variables, never among the words.
 */
export function describeServers(format: McpFormat | null, servers: Servers, keep: Keep): Described {
  const isEmpty = Object.keys(servers).length === 0;
  switch (format?.format) {
    case undefined:
      return { words: [], env: {} };
    case 'claude': {
      if (isEmpty) return { words: [], env: {} };
      const file = keep('mcp.json', JSON.stringify({ mcpServers: mapServers(servers, claudeServer) }));
      return { words: format.arguments.map((word) => word.replaceAll('{file}', () => file)), env: {} };
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

function claudeServer(server: McpServer): object {
  return 'url' in server ? { type: 'http', ...server } : server;
}

function geminiServer(server: McpServer): object {
  return 'url' in server ? { httpUrl: server.url, headers: server.headers } : server;
}

function opencodeServer(server: McpServer): object {
  return 'url' in server
    ? { type: 'remote', ...server, enabled: true }
    : { type: 'local', command: [server.command, ...server.args], environment: server.env, enabled: true };
}

/** Codex takes servers as words only. It takes headers from variables, and a shell reads a program's variables from a file. */
function codexWords(servers: Servers, keep: Keep): Described {
  const words: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, server] of Object.entries(servers)) {
    const fields =
      'url' in server
        ? { url: server.url, env_http_headers: headerVariables(server.headers, env) }
        : commandWithEnvironment(name, server, keep);
    words.push('-c', `mcp_servers.${name}=${toml(fields)}`);
  }
  return { words, env };
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

/** A value in TOML on one line. Its strings are JSON's. */
function toml(value: string | string[] | Record<string, unknown>): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toml).join(',')}]`;
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}=${toml(each as string)}`);
  return `{${pairs.join(',')}}`;
}
