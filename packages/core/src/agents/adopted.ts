import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';

/** Refuses to do anything to an agent that somebody else started: Pawl looks at it, and no more. The dead are nobody's. */
export function refuseAdopted(agent: Pick<Agent, 'alias' | 'adopted' | 'endedAt'>): void {
  if (agent.adopted === null || agent.endedAt !== null) return;
  throw new PawlError(
    'conflict',
    `${agent.alias} was not started by Pawl; end it in its own terminal (pid ${agent.adopted.pid}).`,
    {
      hint: 'Pawl only looks at it: it is told nothing, and nothing is done to it.',
      details: { pid: agent.adopted.pid },
    },
  );
}
