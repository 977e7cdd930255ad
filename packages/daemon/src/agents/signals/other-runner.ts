import { checkOptions } from '@pawl/core/plan/task';
import { requireInstalled } from '@pawl/providers/detect';
import type { Definition } from '@pawl/schema/definition';
import type { Agent } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { updateAgent } from '@pawl/store/agents/agents';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { toolLimits } from '../../definitions/tool-limits.ts';
import { agentPath } from '../../platform/search-path.ts';
import { withAccess } from '../access-choice.ts';

/** Provider, model and account to continue with; a missing field stays as it was. */
export type RunnerChange = {
  provider?: string | undefined;
  model?: string | undefined;
  account?: string | undefined;
};

type Runner = Pick<Agent, 'model' | 'accountId' | 'options' | 'environment'> & { provider: string };

/**
 * Provider, model and account of an agent after a change; null if nothing changes. Refuses what the provider cannot do.
 */
export async function otherRunner(
  platform: SessionPlatform,
  agent: Agent,
  definition: Definition,
  { provider, model, account }: RunnerChange,
): Promise<Runner | null> {
  if (provider === undefined && model === undefined && account === undefined) return null;
  const named = platform.providers.get(provider ?? agent.provider ?? '');
  const preset = await withAccess(platform, named, agent);
  const isOther = preset.name !== agent.provider;
  // A model and options mean nothing to another provider.
  const chosen = { model: model ?? (isOther ? null : agent.model), options: isOther ? {} : agent.options };
  checkOptions(preset, chosen);
  toolLimits(definition, preset);
  const path = await agentPath(platform, agent);
  if (isOther) await requireInstalled(preset, { PATH: preset.env['PATH'] ?? path });
  const stays = !isOther && account === undefined;
  return {
    ...chosen,
    provider: preset.name,
    accountId: stays ? agent.accountId : ((await platform.accounts.chosen(named.name, account))?.id ?? null),
    environment: isOther ? { PATH: path } : agent.environment,
  };
}

/**
 * Gives an agent to another provider or model. Another provider does not know the conversation that the last one kept.
 */
export async function handOver(tx: WriteTransaction, { agent, session }: AgentFacts, runner: Runner): Promise<void> {
  const isOther = runner.provider !== agent.provider;
  const fresh = isOther ? { freshAfter: session?.no ?? 0, forkedConversation: null } : {};
  await updateAgent(tx, agent.id, { ...runner, ...fresh });
  const { provider, model } = runner;
  tx.emit({ type: 'agent.transferred', projectId: agent.projectId, agentId: agent.id, data: { provider, model } });
}
