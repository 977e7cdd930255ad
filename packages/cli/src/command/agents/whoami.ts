import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';

/** Prints the caller's identity: an agent, or a person and whom they act as. */
export async function whoami(context: CommandContext): Promise<number> {
  const who = await withDaemon(context.home, (client) => client.whoami());
  const { caller, agent } = who;
  context.answer('whoami', who, () => {
    const name = context.colours.bold(agent.alias);
    return caller === 'agent' ? `${name} (${agent.id})` : `a person, acting as ${name} (${agent.id})`;
  });
  return 0;
}
