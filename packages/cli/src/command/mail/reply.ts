import { stateOf } from '@pawl/present/agents/agent-text';
import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import { PawlError } from '@pawl/schema/error';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { untilAnswered } from '../../daemon/resend.ts';

export type ReplyOptions = {
  answer?: Record<string, string>;
  notNow?: boolean;
  allow?: boolean;
  always?: boolean;
  session?: boolean;
  agent?: boolean;
  deny?: boolean;
};

/** Answers an agent's question, or declines; the agent continues either way. */
export async function reply(context: CommandContext, words: string[], options: ReplyOptions): Promise<number> {
  const [reference = '', text, ...rest] = words;
  if (rest.length > 0) {
    throw new PawlError('usage', 'Too many arguments: expected an agent and an answer.', {
      hint: 'Put the answer in quotes: pawl reply <agent> "what to do".',
    });
  }
  const body = bodyOf(text, options);
  const { answer } = await askOnce(context, ['reply', reference, body], (key) =>
    untilAnswered(context.home, (client) => client.replyAgent(reference, body, key)),
  );
  const { agent } = answer;
  const { colours } = context;
  context.answer(
    'agent',
    agent,
    () =>
      `${decisionOf(body)}${colours.bold(agent.alias)} continues (${stateOf(agent)})\n${colours.dim(`watch it: pawl logs -f ${agent.alias}`)}`,
  );
  return 0;
}

/** The decision about a permission; empty for a question. */
function decisionOf({ allow, again }: ReplyBody): string {
  if (allow === undefined) return '';
  if (!allow) return 'denied; ';
  return again === undefined ? 'allowed; ' : 'allowed, with a rule (see pawl rules); ';
}

function bodyOf(text: string | undefined, options: ReplyOptions): ReplyBody {
  const { answer, notNow, always, session, agent, deny } = options;
  const scope = always ? ('project' as const) : agent ? ('agent' as const) : session ? ('session' as const) : null;
  const allow = options.allow || scope !== null;
  const again = scope === null ? {} : { again: scope };
  const said = text === undefined ? {} : { answer: text };
  if (notNow) {
    if (text === undefined && answer === undefined) return { notNow: true };
    throw new PawlError('usage', '--not-now takes no answer.');
  }
  if (allow || deny) {
    if (answer === undefined) return { allow, ...again, ...said };
    throw new PawlError('usage', 'Answer a permission with --allow or --deny, and optionally a reason.');
  }
  if ((text === undefined) === (answer === undefined)) {
    throw new PawlError('usage', 'Pass one answer in quotes, or each with --answer <question>=<text>.', {
      hint: 'Or --not-now; a permission takes --allow or --deny.',
    });
  }
  return answer === undefined ? said : { answers: answer };
}
