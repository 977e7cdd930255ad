import type { AgentCaller } from '@pawl/core/definition/gate';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { recentEvents } from '@pawl/store/events';
import type { Workshop } from '../workshop.ts';

/**
 * Records that commits of an agent without Patch stay on its branch. Each head is recorded once: the queue looks at finished
 * agents again and again, and after a restart from the beginning.
 */
export async function recordWithheld(
  shop: Workshop,
  agent: Agent,
  { head, definition }: { head: string; definition: AgentCaller['definition'] },
): Promise<void> {
  const isNew = await shop.store.write(async (tx) => {
    const events = await recentEvents(tx.db, { limit: limits.pageRows, agentId: agent.id });
    if (events.some(({ type, data }) => type === 'change.withheld' && data['head'] === head)) return false;
    const data = { branch: agent.branch ?? '', head, definition: definition.id };
    tx.emit({ type: 'change.withheld', projectId: agent.projectId, agentId: agent.id, data });
    return true;
  });
  if (!isNew) return;
  const about = { agent: agent.alias, branch: agent.branch, definition: definition.id };
  shop.log.info(about, 'its commits stay on its branch: the policy of its definition has no Patch');
}
