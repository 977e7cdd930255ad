import { printableLine } from '@pawl/present/text';
import type { ForkBody } from '@pawl/protocol/agents/verb-view';
import type { AgentAnswer, AgentView } from '@pawl/protocol/agents/view';
import type { Client } from '@pawl/protocol/client';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import { isAbsolute, resolve } from 'node:path';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import type { ForkWords } from '../../view/fork-words.ts';
import { readForkWords } from '../../view/fork-words.ts';
import { commandClient } from '../../daemon/client.ts';
import { projectWord } from '../../project/project-word.ts';
import { withProvider } from '../../agent/provider-choice.ts';
import { untilAnswered } from '../../daemon/resend.ts';

export type ForkOptions = {
  model?: string;
  name?: string;
  access?: ForkBody['access'];
  /** False gives its sessions the key itself. */
  proxy?: false;
  withFiles?: boolean;
  /** Absent: the home's `switch_on_fork` decides. */
  switch?: boolean;
  prompt?: string;
  provider?: string;
  project?: string;
  scenario?: string;
};

/** Forks an agent: the child continues its parent's history, in its own worktree and branch. */
export async function fork(context: CommandContext, words: string[], options: ForkOptions): Promise<number> {
  const asked = readForkWords(words, options.prompt);
  const place = options.project === undefined ? resolve('.') : projectWord(options.project);
  const body: ForkBody = {
    path: resolve('.'),
    ...(options.project === undefined ? {} : { project: projectWord(options.project) }),
    ...searchPathOf(process.env),
    ...(asked.prompt === undefined ? {} : { prompt: asked.prompt }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.name === undefined ? {} : { alias: options.name }),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.proxy === false ? { noProxy: true } : {}),
    ...(options.withFiles && { withFiles: true }),
    ...(options.switch === undefined ? {} : { switch: options.switch }),
    ...(options.scenario === undefined ? {} : { options: { scenario: resolve(options.scenario) } }),
  };
  const given = { provider: options.provider, path: isAbsolute(place) ? place : undefined };
  const { agent } = await withProvider(context, given, (provider) =>
    send(context, asked, provider === undefined ? body : { ...body, provider }),
  );
  const text = context.json || context.quiet ? '' : await describe(context, asked, agent);
  context.answer('agent', agent, () => text);
  return 0;
}

/** Tries at once, and if a tool must finish first, says so and waits. Both are one request to the daemon. */
async function send(context: CommandContext, asked: ForkWords, body: ForkBody): Promise<AgentAnswer> {
  const { answer } = await askOnce(context, ['fork', asked.reference, body], async (key) => {
    const ask = (wait: boolean) =>
      untilAnswered(context.home, (client) => client.fork(asked.reference, { ...body, wait }, key));
    try {
      return await ask(false);
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      if (error.code === 'agent_not_found') throw asked.unlessFound ?? error;
      if (error.code !== 'busy') throw error;
      context.say(`waiting: ${printableLine(error.message)}`);
      return await ask(true);
    }
  });
  return answer;
}

async function describe(
  { home, colours }: CommandContext,
  { reference, prompt }: ForkWords,
  child: AgentView,
): Promise<string> {
  const { parent, switched } = await readSelection(commandClient(home), child);
  const off = parent ?? (reference === '@current' ? 'you' : printableLine(reference));
  const place = child.branch === null ? '' : ` on ${child.branch}`;
  const does = prompt === undefined ? `it waits for your prompt${place}` : `it is working${place}`;
  return [
    `${colours.bold(child.alias)} forked off ${off}; ${does}`,
    ...(switched ? [`you are now ${colours.bold(child.alias)}`] : []),
    ...(prompt === undefined ? [] : [colours.dim(`watch it: pawl logs -f ${child.alias}`)]),
  ].join('\n');
}

/** The parent's alias, and whether the person switches to the child. */
async function readSelection(client: Client, child: AgentView): Promise<{ parent?: string; switched: boolean }> {
  try {
    const { current, parent } = await client.selection();
    const known = [current, parent].find((agent) => agent?.id === child.parentId);
    return { ...(known && { parent: known.alias }), switched: current.id === child.id };
  } catch (error) {
    // Only a person has a selection, and the fork exists in any case.
    if (error instanceof PawlError) return { switched: false };
    throw error;
  }
}
