import { printableLine } from '@pawl/present/text';
import type { AgentAction } from '@pawl/schema/definition';
import { errorCodes, PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import { withDaemon } from '../../daemon/launch.ts';

/** Asks whether an agent may use a tool or take an action; the exit code is the answer. */
export async function gate(
  context: CommandContext,
  given: string | undefined,
  options: { tool?: string; input?: string; action?: AgentAction },
): Promise<number> {
  const { tool, input, action } = options;
  if ((tool === undefined) === (action === undefined) || (input !== undefined && tool === undefined)) {
    throw new PawlError('usage', 'Ask about one tool or about one action.', {
      hint: 'pawl gate [agent] --tool Bash --input "git push", or pawl gate [agent] --action Delegate.',
    });
  }
  const body = {
    ...(tool !== undefined && { tool }),
    ...(input !== undefined && { input }),
    ...(action && { action }),
  };
  const reference = await agentOrCurrent(context.home, given);
  const answer = await withDaemon(context.home, (client) => client.gate(reference, body));
  const { green, red } = context.colours;
  context.answer('gate', answer, () => {
    const verdict = answer.allowed ? green('allowed') : red('not allowed');
    return answer.reason === '' ? verdict : `${verdict}: ${printableLine(answer.reason)}`;
  });
  return answer.allowed ? 0 : errorCodes.forbidden.exit;
}
