import { stateOf } from '@pawl/present/agents/agent-text';
import { count } from '@pawl/present/amount';
import type { CommandContext } from '../../context.ts';
import { answerEach, eachAgent } from '../../agent/each-agent.ts';
import { reachDaemon, withDaemon } from '../../daemon/launch.ts';

/** Pauses, continues or interrupts agents. */
export async function signal(
  context: CommandContext,
  verb: 'pause' | 'continue' | 'interrupt',
  references: string[],
): Promise<number> {
  const client = await reachDaemon(context.home);
  const outcomes = await eachAgent(references, async (reference) => (await client.signalAgent(reference, verb)).agent);
  return answerEach(context, outcomes, 'agents', { agents: outcomes.done }, () =>
    outcomes.done
      .map((agent) => {
        const asked = verb === 'interrupt' ? 'was interrupted; it ' : '';
        return `${context.colours.bold(agent.alias)} ${asked}is ${stateOf(agent)}`;
      })
      .join('\n'),
  );
}

/** Cancels a run, or an agent's open one, and everything it started. The agents stay. */
export async function cancel(context: CommandContext, reference: string): Promise<number> {
  const answer = await withDaemon(context.home, (client) => client.cancelRun(reference));
  context.answer('cancelled', answer, () =>
    answer.cancelled.length === 0
      ? 'there was nothing to cancel'
      : `cancelled ${count(answer.cancelled.length, 'run')}`,
  );
  return 0;
}
