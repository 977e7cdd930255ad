import { PawlError } from '@pawl/schema/error';

/** An agent's id. A helper that a person started has a different PAWL_AGENT_ID, and never had a token. */
const agentId = /^[A-Za-z0-9][A-Za-z0-9_-]{21}$/;

/**
 * Refuses a process of Pawl's that has lost its token: with the person's token it would have all their rights. Guards
 * against accidents, such as a CLI that filters variables; a program that clears its whole environment is not
 * recognised.
 */
export function refuseLostToken(environment: NodeJS.ProcessEnv): void {
  if (environment['PAWL_AGENT_TOKEN']) return;
  const named = ['PAWL_SESSION', 'PAWL_AGENT_ID'].filter((name) => isOfAgent(name, environment[name]));
  if (named.length === 0) return;
  throw new PawlError(
    'forbidden',
    `This is an agent’s process (${named.join(', ')} set), but PAWL_AGENT_TOKEN is not.`,
    {
      hint: 'Let the variable through to this command. Only a person’s own terminal may act without it; if this is one, unset the others.',
    },
  );
}

function isOfAgent(name: string, value: string | undefined): boolean {
  return name === 'PAWL_SESSION' ? Boolean(value) : agentId.test(value ?? '');
}
