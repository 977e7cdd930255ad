import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';

/** The one agent that a person meant by an id, a unique prefix of an id, or an alias. */
export function resolveAgent(reference: string, matches: Agent[]): Agent {
  const [first, ...others] = matches;
  if (first === undefined) {
    throw new PawlError('agent_not_found', `There is no agent ${JSON.stringify(reference.slice(0, 80))}.`, {
      hint: 'Run `pawl ps` to see the agents; an alias, an id, or the first 4 or more characters of an id will do.',
    });
  }
  if (others.length === 0) return first;
  const named = matches.map((agent) => `${agent.alias} (${agent.id})`).join(', ');
  throw new PawlError('ambiguous', `${JSON.stringify(reference.slice(0, 80))} fits more than one agent: ${named}.`, {
    hint: 'Give more characters of the id.',
    details: { matches: matches.map(({ id, alias }) => ({ id, alias })) },
  });
}
