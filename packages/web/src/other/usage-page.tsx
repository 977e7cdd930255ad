import { costOf } from '@pawl/present/agents/agent-text';
import { tokens } from '@pawl/present/amount';
import { Link } from '@tanstack/react-router';
import { agentsIn, useAgents } from '../app/answers.ts';
import { useProject } from '../app/project-choice.tsx';
import { Empty, Loaded, Title } from '../parts/basic.tsx';
import { totalUsage } from './usage.ts';

/** Tokens and money by agent. Not every provider reports them: unknown is not zero. */
export function UsagePage() {
  const agents = useAgents();
  const project = useProject();
  return (
    <Loaded answer={agents}>
      {(list) => {
        const known = agentsIn(list.agents, project).filter(({ cost }) => cost.usd !== null || cost.tokens !== null);
        const total = totalUsage(known);
        return (
          <>
            <Title aside={<span className="text-sm text-muted">{total}</span>}>Usage</Title>
            {known.length === 0 ? (
              <Empty>No agent has reported tokens or money yet.</Empty>
            ) : (
              <table className="w-full text-sm">
                <thead className="text-left text-xs text-muted">
                  <tr>
                    <th className="px-4 py-1.5 font-medium">Agent</th>
                    <th className="font-medium max-sm:hidden">Provider</th>
                    <th className="px-4 text-right font-medium">Tokens</th>
                    <th className="px-4 text-right font-medium">Cost</th>
                  </tr>
                </thead>
                <tbody>
                  {known
                    .toSorted((one, other) => (other.cost.tokens ?? 0) - (one.cost.tokens ?? 0))
                    .map((agent) => (
                      <tr key={agent.id} className="border-t border-line">
                        <td className="px-4 py-1.5">
                          <Link to="/agents/$id" params={{ id: agent.id }} className="text-accent underline">
                            {agent.alias}
                          </Link>
                        </td>
                        <td className="max-sm:hidden">
                          {[agent.provider, agent.account].filter((word) => word !== null).join(' · ')}
                        </td>
                        <td className="px-4 text-right tabular-nums">
                          {agent.cost.tokens === null ? '–' : tokens(agent.cost.tokens)}
                        </td>
                        <td className="px-4 text-right tabular-nums">
                          {agent.cost.usd === null ? '–' : costOf(agent)}
                        </td>
                      </tr>
                    ))}
                </tbody>
              </table>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
