import { limits } from '@pawl/schema/limit';
import { agentView } from './agent-views.ts';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import type { Database } from '../tables.ts';

/** Newest first. */
export async function listErrands(db: Database, filter: { includeEnded: boolean }): Promise<AgentFacts[]> {
  let query = db
    .selectFrom('agents')
    .select('id')
    .where('mode', '=', 'errand')
    .orderBy('ordinal', 'desc')
    .limit(limits.listedErrands);
  if (!filter.includeEnded) query = query.where('ended_at', 'is', null);
  const views: AgentFacts[] = [];
  for (const { id } of await query.execute()) {
    const view = await agentView(db, id);
    if (view !== null) views.push(view);
  }
  return views;
}
