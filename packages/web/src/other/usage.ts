import { count, tokens } from '@pawl/present/amount';
import type { AgentView } from '@pawl/protocol/agents/view';

/** The sum of what is known, and how many agents report no price. */
export function totalUsage(agents: Pick<AgentView, 'cost'>[]): string {
  const priced = agents.filter(({ cost }) => cost.usd !== null);
  const usd = priced.reduce((sum, { cost }) => sum + (cost.usd ?? 0), 0);
  const all = agents.reduce((sum, { cost }) => sum + (cost.tokens ?? 0), 0);
  const unpriced = agents.length - priced.length;
  return [
    `${tokens(all)} tokens`,
    ...(priced.length === 0 ? [] : [`$${usd.toFixed(2)}`]),
    ...(unpriced === 0 ? [] : [`${count(unpriced, 'agent')} without a price`]),
  ].join(' · ');
}
