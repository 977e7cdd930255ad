import type { ReplyBody } from '@pawl/protocol/view';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { stateOf } from '../format.ts';
import { untilAnswered } from '../resend.ts';

/** Answers the questions that an agent left, and lets it go on with them. */
export async function reply(
  context: CommandContext,
  words: string[],
  options: { answer?: Record<string, string> },
): Promise<number> {
  const [reference = '', text, ...rest] = words;
  if (rest.length > 0) {
    throw new PawlError('usage', 'There are more words than an agent and an answer.', {
      hint: 'Put the answer in quotes: pawl reply <agent> "what to do".',
    });
  }
  if ((text === undefined) === (options.answer === undefined)) {
    throw new PawlError('usage', 'Give one answer in quotes, or each with --answer <question>=<text>.');
  }
  const body: ReplyBody = text === undefined ? { answers: options.answer ?? {} } : { answer: text };
  const key = crypto.randomUUID();
  const { agent } = await untilAnswered(context.home, (client) => client.replyAgent(reference, body, key));
  const { colours } = context;
  context.answer(
    'agent',
    agent,
    () =>
      `${colours.bold(agent.alias)} goes on (${stateOf(agent)})\n${colours.dim(`watch it: pawl logs -f ${agent.alias}`)}`,
  );
  return 0;
}
