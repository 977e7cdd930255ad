import { markerVariable } from '@pawl/host/session/marker';
import type { McpServer } from '@pawl/providers/command';
import { ownServer } from '@pawl/schema/mcp';
import type { Agent, Session } from '@pawl/schema/record';
import { join } from 'node:path';
import type { Platform } from '../platform/platform.ts';

/**
 * The MCP servers of a session: those that the person chose, and Pawl's own, which speaks as the agent. The token is in the
 * session's environment, from where most CLIs pass it on. It says which agent it serves, so that without that token it is
 * nobody, instead of the person whose home it finds.
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
