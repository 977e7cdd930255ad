import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createAuthority } from '@pawl/daemon/platform/http/authority';
import type { Home } from '@pawl/protocol/node/home';
import { programs } from '@pawl/protocol/node/programs';
import { readFileSync } from 'node:fs';

/** The supported revisions, newest first. */
export const revisions = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;
export type Revision = (typeof revisions)[number];

/** A client of the protocol's own SDK. */
export type McpClient = {
  client: Client;
  /** Calls a tool and returns its result as an object; throws a tool error as its code and message. */
  call(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The error of a call: a tool's own, as an object. */
  failure(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The token of an agent of a home or, without one, the person's. */
export function tokenOf(home: Home, agentId: string | null): string {
  const person = readFileSync(home.token, 'utf8').trim();
  return agentId === null ? person : createAuthority(person).agentToken(agentId);
}

function newClient(revision: Revision): Client {
  const isModern = revision === '2026-07-28';
  return new Client(
    { name: 'test', version: '1.0.0' },
    isModern
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision], versionNegotiation: { mode: 'legacy' } },
  );
}

function around(client: Client): McpClient {
  const send = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input });
  return {
    client,
    async call(name, input = {}) {
      const { isError, content, structuredContent } = await send(name, input);
      if (isError) throw new Error(JSON.stringify(content));
      return structuredContent as Record<string, unknown>;
    },
    async failure(name, input = {}) {
      const { isError, structuredContent, content } = await send(name, input);
      if (!isError) throw new Error(`${name} did not fail: ${JSON.stringify(content)}`);
      return ((structuredContent as Record<string, unknown> | undefined)?.['error'] ?? {
        text: JSON.stringify(content),
      }) as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A client of the daemon's `/mcp`. */
export async function mcpOverHttp(
  place: { home: Home; port: number },
  agentId: string | null,
  revision: Revision = '2026-07-28',
): Promise<McpClient> {
  const client = newClient(revision);
  const headers = { authorization: `Bearer ${tokenOf(place.home, agentId)}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${place.port}/mcp`), { requestInit: { headers } }),
  );
  return around(client);
}

/** A client of its own `pawl mcp`, as an agent or, without one, as the person. */
export async function mcpOverStdio(
  home: Home,
  agentId: string | null,
  revision: Revision = '2025-11-25',
  cwd = '/',
  words: string[] = [],
): Promise<McpClient> {
  const client = newClient(revision);
  const agent: Record<string, string> =
    agentId === null ? {} : { PAWL_AGENT_ID: agentId, PAWL_AGENT_TOKEN: tokenOf(home, agentId) };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [programs.pawl, 'mcp', ...words],
      env: { PATH: process.env['PATH'] ?? '', PAWL_HOME: home.root, ...agent },
      cwd,
      stderr: 'ignore',
    }),
  );
  return around(client);
}
