import { names } from '@pawl/present/amount';
import type { KillAnswer } from '@pawl/protocol/agents/verb-view';
import type { Client } from '@pawl/protocol/client';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { answerEach, eachAgent } from '../../agent/each-agent.ts';
import { reachDaemon } from '../../daemon/launch.ts';

/** Kills agents, or the one that the caller acts as: ends their processes; their rows, histories and work stay. */
export async function kill(
  context: CommandContext,
  references: string[],
  options: { cascade?: boolean },
): Promise<number> {
  const client = await reachDaemon(context.home);
  const outcomes = await eachAgent(references.length === 0 ? ['@current'] : references, async (reference) => {
    const answer = await client.killAgent(reference, options.cascade ? { cascade: true } : {});
    const text =
      context.json || context.quiet ? '' : describeKill(answer, await supervisorOf(client, answer.resupervised));
    return { answer, text };
  });
  return answerEach(context, outcomes, 'kills', { kills: outcomes.done.map(({ answer }) => answer) }, () =>
    outcomes.done.map(({ text }) => text).join('\n'),
  );
}

/** Says how many died, and which living agents have a new supervisor. */
export function describeKill({ target, killed, resupervised }: KillAnswer, supervisor: string | null): string {
  const dead = killed.map(({ alias }) => alias);
  const died =
    dead.length === 0
      ? `${target.alias} was dead already`
      : `killed ${dead.length === 1 ? '' : `${dead.length} agents: `}${names(dead)}`;
  if (resupervised.length === 0) return died;
  const heirs = names(resupervised.map(({ alias }) => alias));
  return `${died}; ${heirs} now ${resupervised.length === 1 ? 'answers' : 'answer'} to ${supervisor ?? 'another supervisor'}`;
}

/** The alias of their new supervisor: they had the same one, so they get the same one. */
async function supervisorOf(client: Client, [first]: KillAnswer['resupervised']): Promise<string | null> {
  if (first === undefined) return null;
  try {
    const view = async (id: string) => (await client.inspectAgent(id, { worktree: false })).agent;
    const { supervisorId } = await view(first.id);
    return supervisorId === null ? null : (await view(supervisorId)).alias;
  } catch (error) {
    // The kill is recorded and reported; this is only a name.
    if (error instanceof PawlError) return null;
    throw error;
  }
}
