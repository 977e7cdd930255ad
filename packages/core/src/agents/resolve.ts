import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';

/** Resolves an id, a unique id prefix or an alias to one agent. */
export function resolveAgent(reference: string, matches: Agent[]): Agent {
  const [first, ...others] = matches;
  if (first === undefined) {
    throw new PawlError('agent_not_found', `There is no agent ${JSON.stringify(reference.slice(0, 80))}.`, {
      hint: 'Run `pawl ps` to list agents; use an alias, an id, or at least the first 4 characters of an id.',
    });
  }
  if (others.length === 0) return first;
  const named = matches.map((agent) => `${agent.alias} (${agent.id})`).join(', ');
  throw new PawlError('ambiguous', `${JSON.stringify(reference.slice(0, 80))} matches more than one agent: ${named}.`, {
    hint: 'Give more characters of the id.',
    details: { matches: matches.map(({ id, alias }) => ({ id, alias })) },
  });
}
