import { stateOf } from '@pawl/present/agents/agent-text';
import type { ResumeBody } from '@pawl/protocol/agents/verb-view';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import { agentAndText, agentOrCurrent } from '../../agent/current-agent.ts';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { untilAnswered } from '../../daemon/resend.ts';

/** Resumes an idle agent's conversation, with or without a prompt. */
export async function resume(
  context: CommandContext,
  words: string[],
  { budget, model, provider, account }: Pick<ResumeBody, 'budget' | 'model' | 'provider' | 'account'> = {},
): Promise<number> {
  if (words.length > 2) {
    throw new PawlError('usage', 'Too many arguments: expected an agent and a prompt.', {
      hint: 'Put the prompt in quotes: pawl resume <agent> "what to do".',
    });
  }
  const { reference: given, text: prompt } = agentAndText(words);
  if (prompt?.trim() === '') {
    throw new PawlError('usage', 'The prompt is empty.', { hint: 'Leave it out to just resume the agent.' });
  }
  const reference = await agentOrCurrent(context.home, given);
  const body: ResumeBody = {
    ...searchPathOf(process.env),
    ...(prompt === undefined ? {} : { prompt }),
    ...(budget === undefined ? {} : { budget }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(account === undefined ? {} : { account }),
  };
  const { answer } = await askOnce(context, ['resume', reference, body], (key) =>
    untilAnswered(context.home, (client) => client.resumeAgent(reference, body, key)),
  );
  const { agent } = answer;
  const { colours } = context;
  context.answer(
    'agent',
    agent,
    () =>
      `${colours.bold(agent.alias)} continues (${stateOf(agent)})\n${colours.dim(`watch it: pawl logs -f ${agent.alias}`)}`,
  );
  return 0;
}
