import type { Client, ListQuery } from '@pawl/protocol/client';
import type { AgentList } from '@pawl/protocol/view';

/** The most that the daemon gives at once. */
const pageRows = 1_000;

/** All the agents that fit a query, newest first, asked for page by page. */
export async function everyAgent(client: Client, query: ListQuery): Promise<Pick<AgentList, 'agents' | 'current'>> {
  const first = await client.listAgents({ ...query, limit: pageRows });
  const agents = [...first.agents];
  for (let page = first; page.more && page.agents.length > 0;) {
    page = await client.listAgents({ ...query, limit: pageRows, before: page.agents.at(-1)?.id ?? '' });
    agents.push(...page.agents);
  }
  return { agents, current: first.current };
}
