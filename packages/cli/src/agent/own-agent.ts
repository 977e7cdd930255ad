/**
 * The id of the agent that a command runs in, or undefined outside of one. A helper that `pawl run` started has an id, too,
 * which no registry knows: only whoever has a token is an agent of Pawl's.
 */
export function ownAgentId(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment['PAWL_AGENT_TOKEN'] ? environment['PAWL_AGENT_ID'] || undefined : undefined;
}
