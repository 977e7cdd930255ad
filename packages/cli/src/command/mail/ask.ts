import { printable } from '@pawl/present/text';
import { noAnswer } from '@pawl/protocol/questions/no-answer';
import type { AskBody, QuestionView } from '@pawl/protocol/questions/view';
import { PawlError } from '@pawl/schema/error';
import { commandClient } from '../../daemon/client.ts';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { follow } from '../../terminal/follow.ts';
import { reachDaemon } from '../../daemon/launch.ts';
import { ownAgentId } from '../../agent/own-agent.ts';
import { untilAnswered } from '../../daemon/resend.ts';

export type AskOptions = {
  from?: string;
  agentId?: string;
  taskId?: string;
  phaseId?: string;
  person?: boolean;
  timeout?: number;
};

/** Asks a question, waits for the answer across restarts of the daemon, and prints only the answer. */
export async function ask(context: CommandContext, question: string, options: AskOptions): Promise<number> {
  const body = bodyOf(question, options);
  const { answer: begun } = await askOnce(context, ['ask', body], (key) =>
    untilAnswered(context.home, (client) => client.ask(body, key)),
  );
  const { question: asked } = begun;
  const ended = await endOf(context, asked.conversationId);
  const { answer } = ended;
  const isAnswered = ended.end === 'answered' && answer !== null;
  if (isAnswered) context.answer('answer', { conversationId: ended.conversationId, answer }, () => printable(answer));
  // Only now was it shown; an unrecorded answer is also sent by mail.
  await commandClient(context.home)
    .noteShown(ended.conversationId)
    .catch(() => undefined);
  if (!isAnswered) throw noAnswer(ended);
  return 0;
}

/** Waits for the end of a question. Restarts a dead daemon, since no answer could arrive otherwise. */
async function endOf(context: CommandContext, conversationId: string): Promise<QuestionView> {
  let ended: QuestionView | undefined;
  await follow(
    async () => (await reachDaemon(context.home)).followQuestion(conversationId),
    (question) => {
      ended = question;
      return 'ended';
    },
  );
  if (ended === undefined) throw new PawlError('internal', `The question ${conversationId} no longer exists.`);
  return ended;
}

function bodyOf(question: string, { from, agentId, taskId, phaseId, person, timeout }: AskOptions): AskBody {
  if ([agentId, taskId, phaseId, person].filter((each) => each !== undefined).length !== 1) {
    throw new PawlError('usage', 'Name exactly one recipient: --agent-id, --task-id, --phase-id or --person.');
  }
  const self = from ?? ownAgentId();
  return {
    question,
    ...(self ? { from: self } : {}),
    ...(agentId === undefined ? {} : { agent: agentId }),
    ...(taskId === undefined ? {} : { task: taskId }),
    ...(phaseId === undefined ? {} : { phase: phaseId }),
    ...(person ? { person: true as const } : {}),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
}
