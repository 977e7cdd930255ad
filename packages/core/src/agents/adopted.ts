import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';

/** Refuses to act on a live agent that Pawl did not start: Pawl only observes those. */
export function refuseAdopted(agent: Pick<Agent, 'alias' | 'adopted' | 'endedAt'>): void {
  if (agent.adopted === null || agent.endedAt !== null) return;
  throw new PawlError(
    'conflict',
    `${agent.alias} was not started by Pawl; end it in its own terminal (pid ${agent.adopted.pid}).`,
    {
      hint: 'Pawl only observes it; it never signals or instructs it.',
      details: { pid: agent.adopted.pid },
    },
  );
}
