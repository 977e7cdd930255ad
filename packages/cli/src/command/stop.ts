import type { CommandContext } from '../context.ts';
import { stateOf } from '../format.ts';
import { reachDaemon } from '../launch.ts';

/** Ends an agent's processes and waits until they are gone. Its worktree, branch and history stay. */
export async function stop(context: CommandContext, references: string[]): Promise<number> {
  const client = await reachDaemon(context.home);
  for (const reference of references) {
    const { agent } = await client.stopAgent(reference);
    context.answer(
      'agent',
      agent,
      () => `${context.colours.bold(agent.alias)} is ${stateOf(agent)}; its work is on ${agent.branch}`,
    );
  }
  return 0;
}
