import { names } from '@pawl/present/amount';
import type { CompleteAnswer } from '@pawl/protocol/agents/verb-view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { ownAgentId } from '../../agent/own-agent.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';

/** Completes an agent: the named one, or the caller. */
export async function complete(
  context: CommandContext,
  named: string | undefined,
  options: { summary?: string; failure?: string },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const reference = named ?? ownAgentId(environment);
  if (reference === undefined || reference === '') {
    throw new PawlError('usage', 'Which agent is done? Outside of an agent that Pawl started, name it.', {
      hint: environment['PAWL_HELPER'] ? 'A helper ends with: pawl session end' : 'pawl complete <agent> --summary "…"',
    });
  }
  if (options.failure?.trim() === '') throw new PawlError('usage', 'The reason for the failure is empty.');
  const summary = options.summary === '-' ? await readText() : options.summary;
  const body = {
    ...(summary === undefined ? {} : { summary }),
    ...(options.failure === undefined ? {} : { failure: options.failure }),
  };
  // Idempotent, so a request whose answer was lost may be repeated.
  const answer = await untilAnswered(context.home, (client) => client.completeAgent(reference, body));
  context.answer('completed', answer, () => describe(answer));
  return 0;
}

function describe({ agent, notified, isNew }: CompleteAnswer): string {
  if (!isNew) return `${agent.alias} had completed already; nothing has changed`;
  const told = notified.length === 0 ? 'no agent to notify' : `told ${names(notified.map(({ alias }) => alias))}`;
  return agent.status === 'running'
    ? `${agent.alias} has completed; ${told}; it ends when its process has left`
    : `${agent.alias} has completed and ended; ${told}`;
}
