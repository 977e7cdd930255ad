import { stateOf } from '@pawl/present/agents/agent-text';
import type { AgentView } from '@pawl/protocol/agents/view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { answerEach, eachAgent } from '../../agent/each-agent.ts';
import { reachDaemon } from '../../daemon/launch.ts';

/** Ends agents' processes and waits until they are gone. Their worktrees, branches and histories stay. */
export async function stop(
  context: CommandContext,
  references: string[],
  options: { all?: boolean } = {},
): Promise<number> {
  if (options.all ? references.length > 0 : references.length === 0) {
    throw new PawlError('usage', options.all ? 'Name agents or use --all, not both.' : 'No agent given.', {
      hint: 'pawl stop <agent...> stops the ones you name, pawl stop --all everybody who is at work.',
    });
  }
  const client = await reachDaemon(context.home);
  if (options.all) {
    const { agents } = await client.stopAll();
    context.answer('agents', { agents }, () =>
      agents.length === 0 ? 'no agent was working' : agents.map((agent) => describe(agent, context)).join('\n'),
    );
    return 0;
  }
  const outcomes = await eachAgent(references, async (reference) => (await client.stopAgent(reference)).agent);
  return answerEach(context, outcomes, 'agents', { agents: outcomes.done }, () =>
    outcomes.done.map((agent) => describe(agent, context)).join('\n'),
  );
}

function describe(agent: AgentView, { colours }: CommandContext): string {
  const work = agent.branch === null ? '' : `; its work is on ${agent.branch}`;
  return `${colours.bold(agent.alias)} is ${stateOf(agent)}${work}`;
}
