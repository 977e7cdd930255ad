import type { ListQuery } from '@pawl/protocol/agents/client';
import type { Client } from '@pawl/protocol/client';
import type { AgentList } from '@pawl/protocol/agents/view';
import { limits } from '@pawl/schema/limit';

/** The agents that match a query, newest first, up to a limit, read page by page. */
export async function everyAgent(client: Client, query: ListQuery, most = Infinity): Promise<AgentList> {
  const pageOf = (taken: number) => Math.min(limits.pageRows, most - taken);
  const first = await client.listAgents({ ...query, limit: pageOf(0) });
  const agents = [...first.agents];
  let page = first;
  while (page.more && page.agents.length > 0 && agents.length < most) {
    const before = page.agents.at(-1)?.id ?? '';
    page = await client.listAgents({ ...query, limit: pageOf(agents.length), before });
    agents.push(...page.agents);
  }
  return { agents, current: first.current, more: page.more };
}
