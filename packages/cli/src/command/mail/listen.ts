import { commandClient } from '../../daemon/client.ts';
import type { QuestionView } from '@pawl/protocol/questions/view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { plainJson } from '../../context.ts';
import { follow } from '../../terminal/follow.ts';
import { ownAgentId } from '../../agent/own-agent.ts';

/** Waits for one question to an agent, a waiting one first, and prints it as a line of JSON. */
export async function listen(
  context: CommandContext,
  options: { agentId?: string; timeout?: number },
): Promise<number> {
  const agentId = options.agentId ?? ownAgentId();
  if (!agentId) {
    throw new PawlError('usage', 'No agent given. Pass --agent-id.', {
      hint: 'Only agents that Pawl started are asked; others, including helpers, have no mailbox.',
    });
  }
  const patience = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout);
  const heard = await firstQuestion(context, agentId, patience);
  if (heard === null) throw new PawlError('timeout', 'No question came in this time.');
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

/** The stream, ending with an explicit timeout: a bare end would look like a lost connection. */
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
