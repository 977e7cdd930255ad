import { printable } from '@pawl/present/text';
import type { RunResult } from '@pawl/protocol/agents/runs/view';
import type { ChatAnswer, ChatBody } from '@pawl/protocol/runtime/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { waitForRun } from '../../agent/run-wait.ts';
import type { CommandContext } from '../../context.ts';
import { commandClient } from '../../daemon/client.ts';
import type { Partner } from './conversation.ts';

/** Says one thing to an agent and prints its answer, and nothing else, on stdout. The exit code tells the outcome. */
export async function sayOnce(
  context: CommandContext,
  message: string,
  given: { partner: Partner | null; send(body: ChatBody): Promise<ChatAnswer> },
): Promise<number> {
  const { partner } = given;
  if (partner !== null) await untilIdle(context, partner);
  const answer = await given.send({ message, ...(partner === null ? {} : { agent_id: partner.id }) });
  if (answer.status === 'mode') {
    context.answer('chat', answer, () => `${answer.mode}`);
    return 0;
  }
  const { run_id: runId, agent } = answer;
  if (runId === null) throw new PawlError('not_found', 'The message began no run.');
  context.say(context.colours.dim(`${agent} is at work; Ctrl-C leaves it running`));
  const stopping = new AbortController();
  tellOfRequests(context, answer, stopping.signal).catch(() => undefined);
  try {
    return report(context, await waitForRun(context, runId, null));
  } finally {
    stopping.abort();
  }
}

/** Waits until an agent has no turn, so that the next one is only about this message. */
async function untilIdle(context: CommandContext, { id, alias }: Partner): Promise<void> {
  for (;;) {
    const { run, activity } = (await commandClient(context.home).inspectAgent(id, { worktree: false })).agent;
    if (run === null || run.status !== 'running') return;
    context.say(
      activity === 'waiting_for_approval'
        ? `${alias} waits for your permission: pawl inbox ${alias}`
        : context.colours.dim(`${alias} is busy; waiting until its turn ends`),
    );
    await waitForRun(context, run.id, null);
  }
}

/** Says on stderr that the agent waits for an approval, which cannot be given here. */
async function tellOfRequests(context: CommandContext, { agent_id: id, agent }: ChatAnswer, signal: AbortSignal) {
  const client = commandClient(context.home);
  const { lastSeq } = await client.events({ tail: 1 });
  for await (const message of client.followEvents(lastSeq, id === null ? {} : { agent: id }, signal))
    if (message.type === 'event' && message.event.type === 'approval.referred')
      context.say(`${agent} waits for your permission: pawl inbox ${agent}`);
}

function report(context: CommandContext, found: RunResult): number {
  const { run, agent, result } = found;
  const text = printable(result ?? '');
  if (context.json) context.answer('chat', found, () => '');
  else if (run.questions !== null)
    process.stdout.write(`${run.questions.map(({ question }) => printable(question)).join('\n')}\n`);
  else if (run.status === 'completed') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  else process.stderr.write(`${agent.alias} ${run.status}: ${text}\n`);
  if (run.questions !== null) return errorCodes.needs_input.exit;
  return run.status === 'completed' ? 0 : 1;
}
