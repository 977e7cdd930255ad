import { count, names } from '@pawl/present/amount';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { answerEach, eachAgent } from '../../agent/each-agent.ts';
import { everyAgent } from '../../agent/every-agent.ts';
import { reachDaemon } from '../../daemon/launch.ts';

/** Hides dead agents. Their rows and histories stay. */
export async function reap(context: CommandContext, references: string[], options: { all?: boolean }): Promise<number> {
  if (options.all ? references.length > 0 : references.length === 0) {
    throw new PawlError('usage', options.all ? 'Name agents or use --all, not both.' : 'No agent given.', {
      hint: 'pawl reap <agent...> puts the dead ones that you name out of sight, pawl reap --all every dead agent.',
    });
  }
  const client = await reachDaemon(context.home);
  const targets = options.all
    ? (await everyAgent(client, { all: true })).agents.filter(({ status }) => status === 'dead').map(({ id }) => id)
    : references;
  const outcomes = await eachAgent(targets, async (target) => (await client.signalAgent(target, 'reap')).agent);
  return answerEach(context, outcomes, 'agents', { agents: outcomes.done }, () =>
    outcomes.done.length === 0
      ? 'no dead agents'
      : `reaped ${count(outcomes.done.length, 'agent')}: ${names(outcomes.done.map(({ alias }) => alias))}`,
  );
}
