import type { Agent } from '@pawl/schema/record';
import { agentOf } from './agents.ts';
import type { Database } from '../tables.ts';

/** An agent that Pawl did not start, with its process. */
export type AdoptedAgent = Agent & { adopted: NonNullable<Agent['adopted']> };

/** The living agents that Pawl did not start. */
export async function livingAdopted(db: Database): Promise<AdoptedAgent[]> {
  const rows = await db
    .selectFrom('agents')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('adopted', 'is not', null)
    .execute();
  return rows.map(agentOf).filter((agent): agent is AdoptedAgent => agent.adopted !== null);
}
