/**
 * The id of the agent that a command runs in, or undefined. A helper that `pawl run` started has an unregistered id,
 * too: only a process with a token is one of Pawl's agents.
 */
export function ownAgentId(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment['PAWL_AGENT_TOKEN'] ? environment['PAWL_AGENT_ID'] || undefined : undefined;
}
