import { commandClient } from '../../daemon/client.ts';
import type { QuestionView } from '@pawl/protocol/view/question';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { plainJson } from '../../context.ts';
import { follow } from '../../terminal/follow.ts';
import { ownAgentId } from '../../agent/own-agent.ts';

/** Waits for one question to an agent, one that waits already first, and prints it as a line of JSON. */
export async function listen(
  context: CommandContext,
  options: { agentId?: string; timeout?: number },
): Promise<number> {
  const agentId = options.agentId ?? ownAgentId();
  if (!agentId) {
    throw new PawlError('usage', 'Say who listens: --agent-id.', {
      hint: 'Only an agent that Pawl started is asked; others, helpers among them, have no mailbox.',
    });
  }
  const patience = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout);
  const heard = await firstQuestion(context, agentId, patience);
  if (heard === null) throw new PawlError('timeout', 'Nobody has asked anything in this time.');
  const record = recordOf(heard);
  context.answer('question', record, () => plainJson(record));
  return 0;
}

async function firstQuestion(
  { home }: CommandContext,
  agentId: string,
  patience: AbortSignal | undefined,
): Promise<QuestionView | null> {
  let heard: QuestionView | null = null;
  await follow(
    async () => listened(commandClient(home).listen(agentId, patience), patience),
    (message) => {
      heard = message;
      return 'ended';
    },
  );
  return heard;
}

/** The stream, and, when the time is over, a last word that says so: an end by itself would look like a loss. */
async function* listened(
  stream: AsyncGenerator<QuestionView>,
  patience: AbortSignal | undefined,
): AsyncGenerator<QuestionView | null> {
  yield* stream;
  if (patience?.aborted) yield null;
}

function recordOf({ conversationId, from, question, phaseId, taskId }: QuestionView) {
  return {
    conversationId,
    fromAgentId: from.id,
    question,
    ...(phaseId === null ? {} : { phaseId }),
    ...(taskId === null ? {} : { taskId }),
  };
}
