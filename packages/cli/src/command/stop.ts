import type { AgentView } from '@pawl/protocol/view';
import type { CommandContext } from '../context.ts';
import { stateOf } from '../format.ts';
import { reachDaemon } from '../launch.ts';

/** Ends an agent's processes and waits until they are gone. Its worktree, branch and history stay. */
export async function stop(context: CommandContext, references: string[]): Promise<number> {
  const client = await reachDaemon(context.home);
  const agents: AgentView[] = [];
  for (const reference of references) agents.push((await client.stopAgent(reference)).agent);
  context.answer('agents', { agents }, () =>
    agents
      .map(
        (agent) =>
          `${context.colours.bold(agent.alias)} is ${stateOf(agent)}${agent.branch === null ? '' : `; its work is on ${agent.branch}`}`,
      )
      .join('\n'),
  );
  return 0;
}
