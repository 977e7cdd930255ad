import { markerVariable } from '@pawl/host/session/marker';
import type { McpServer } from '@pawl/providers/command';
import { ownServer } from '@pawl/schema/mcp';
import type { Agent, Session } from '@pawl/schema/record';
import { join } from 'node:path';
import type { Platform } from '../platform/platform.ts';

/**
 * The MCP servers of a session: those of the person, and Pawl's own, which acts as the agent. The token is in the
 * session's environment, from where most CLIs pass it on. The server's configuration names its agent, so that without
 * the token it has no identity, instead of the person's.
 */
export function sessionServers(
  { home, choices, authority, pawl }: Pick<Platform, 'home' | 'choices' | 'authority' | 'pawl'>,
  agent: Pick<Agent, 'id' | 'alias'>,
  session: Pick<Session, 'id'>,
): Record<string, McpServer> {
  const own: McpServer = {
    command: join(home.bin, 'pawl'),
    args: ['mcp', '--agent', agent.id],
    env: {},
    socket: home.socket,
    inherit: {
      PAWL_HOME: home.root,
      PAWL_BIN: pawl,
      [markerVariable]: session.id,
      PAWL_AGENT_ID: agent.id,
      PAWL_AGENT_NAME: agent.alias,
      PAWL_AGENT_TOKEN: authority.agentToken(agent.id),
    },
  };
  return { ...choices.mcpServers, [ownServer]: own };
}
