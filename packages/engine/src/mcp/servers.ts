import { messageOf } from '@pawl/schema/error';
import { ownServer } from '@pawl/schema/mcp';
import type { Tool } from '../tools/tool.ts';
import { Connection } from './connection.ts';
import { delegateTool } from './delegate.ts';
import { openHttp } from './http-transport.ts';
import type { ServerConfig } from './server-config.ts';
import { serverTool } from './server-tools.ts';
import { StdioTransport } from './stdio-transport.ts';

export type ServerPlace = {
  cwd: string;
  /** The environment of programs: without keys and without the agent's token. */
  env: Record<string, string | undefined>;
  /** The agent's token, for Pawl's own server. */
  token: string;
  report(problem: string): void;
};

/** The MCP servers of a session. */
export class Servers {
  readonly #connections: Connection[];
  readonly #report: ServerPlace['report'];
  readonly #tools = new Map<string, Tool[]>();

  constructor(configs: Record<string, ServerConfig>, place: ServerPlace) {
    this.#report = place.report;
    this.#connections = Object.entries(configs).map(
      ([name, config]) => new Connection(name, () => transportTo(config, place)),
    );
  }

  /** The tools of every server that answers. One that did not answer before is asked again. */
  async tools(signal: AbortSignal): Promise<Tool[]> {
    await Promise.all(
      this.#connections.map(async (connection) => {
        if (this.#tools.has(connection.name)) return;
        try {
          const listed = await connection.listTools(signal);
          this.#tools.set(
            connection.name,
            listed.map((tool) => ownOrForeign(connection, serverTool(connection, tool), tool.name)),
          );
        } catch (error) {
          signal.throwIfAborted();
          this.#report(`the MCP server ${connection.name} cannot be used: ${messageOf(error)}`);
        }
      }),
    );
    return [...this.#tools.values()].flat();
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((each) => each.close()));
  }
}

/** Delegation waits for the result, however long it takes; every other tool is as the server describes it. */
function ownOrForeign(connection: Connection, tool: Tool, name: string): Tool {
  return connection.name === ownServer && name === 'delegate' ? delegateTool(connection, tool) : tool;
}

function transportTo(config: ServerConfig, { cwd, env, token }: ServerPlace) {
  if ('socket' in config) {
    const headers = { authorization: `Bearer ${token}` };
    return openHttp({ target: { socket: config.socket, path: '/mcp' }, headers, patient: true });
  }
  if ('url' in config)
    return openHttp({ target: { url: new URL(config.url) }, headers: config.headers, patient: false });
  return new StdioTransport({ ...config, cwd, env: { ...env, ...config.env } });
}
