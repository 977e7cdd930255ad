import type { DelegateBody } from '@pawl/protocol/agents/runs/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { answerResult, waitForRun } from '../../agent/run-wait.ts';
import { readText } from '../../terminal/standard-input.ts';

export type DelegateOptions = {
  wait: boolean;
  timeout?: number;
  provider?: string;
  model?: string;
  name?: string;
  base?: string;
  access?: DelegateBody['access'];
  scenario?: string;
  key?: string;
};

/** Starts an agent of a definition for the calling agent, and prints its result. */
export async function delegate(
  context: CommandContext,
  target: string,
  words: string[],
  options: DelegateOptions,
): Promise<number> {
  const task = words.length === 1 && words[0] === '-' ? await readText() : words.join(' ');
  if (task.trim() === '') throw new PawlError('usage', 'No task given.', { hint: `pawl delegate ${target} "…"` });
  const body: DelegateBody = {
    target,
    task,
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.name === undefined ? {} : { alias: options.name }),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.base === undefined ? {} : { base: options.base }),
    ...(options.scenario === undefined ? {} : { options: { scenario: resolve(options.scenario) } }),
  };
  const { answer: begun } = await askOnce(context, ['delegate', body, options.key], (key) =>
    untilAnswered(context.home, (client) => client.delegate(body, options.key ?? key)),
  );
  const { agent, run } = begun;
  if (!options.wait) {
    const then = `its result: pawl result ${run.id}`;
    context.answer('delegated', begun, () => `${context.colours.bold(agent.alias)} is at work\n${then}`);
    return 0;
  }
  context.say(context.colours.dim(`${agent.alias} is at work; its result later: pawl result ${run.id}`));
  return answerResult(context, await waitForRun(context, run.id, options.timeout ?? null));
}

/** Prints the result of a run, after it has ended. */
export async function result(
  context: CommandContext,
  run: string,
  options: { wait: boolean; timeout?: number },
): Promise<number> {
  return answerResult(context, await waitForRun(context, run, options.wait ? (options.timeout ?? null) : 0));
}
