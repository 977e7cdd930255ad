import type { CommandContext } from '../../context.ts';
import { everyAgent } from '../../agent/every-agent.ts';
import { drawFamily } from '../../view/family-tree.ts';
import { withDaemon } from '../../daemon/launch.ts';

/** Draws the family tree of agents with their states. */
export async function tree(context: CommandContext, options: { all?: boolean }): Promise<number> {
  const { agents, current } = await withDaemon(context.home, (client) => everyAgent(client, { all: true }));
  const { columns, colours } = context;
  context.answer('tree', { current, agents }, () =>
    drawFamily(agents, { all: options.all ?? false, current, columns, colours }).join('\n'),
  );
  return 0;
}
