import type { WorkBody } from '@pawl/protocol/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { stateOf, statePaint } from '../format.ts';
import { withDaemon } from '../launch.ts';
import { untilAnswered } from '../resend.ts';
import { printable } from '../terminal.ts';
import { followOutput } from './logs.ts';

export type WorkOptions = {
  as?: string;
  provider?: string;
  model?: string;
  name?: string;
  base?: string;
  scenario?: string;
  project?: string;
  follow?: boolean;
};

/** Puts an agent to work on a task, in a worktree and branch of its own. */
export async function work(context: CommandContext, words: string[], options: WorkOptions): Promise<number> {
  const body: WorkBody = {
    path: resolve(options.project ?? '.'),
    task: await readTask(words),
    ...(options.as === undefined ? {} : { definition: options.as }),
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.name === undefined ? {} : { alias: options.name }),
    ...(options.base === undefined ? {} : { base: options.base }),
    ...(options.scenario === undefined ? {} : { options: { scenario: resolve(options.scenario) } }),
  };
  const key = crypto.randomUUID();
  const { agent } = await untilAnswered(context.home, (client) => client.work(body, key));
  context.answer(
    'agent',
    agent,
    () =>
      `${context.colours.bold(agent.alias)} is at work${agent.branch === null ? '' : ` on ${agent.branch}`}\n${context.colours.dim(`watch it: pawl logs -f ${agent.alias}`)}`,
  );
  return options.follow ? followToEnd(context, agent.id) : 0;
}

/** Shows an agent's output and how it ended; the exit code says the latter too. */
async function followToEnd(context: CommandContext, agentId: string): Promise<number> {
  await followOutput(context, agentId, { raw: false });
  const { agent } = await withDaemon(context.home, (client) => client.inspectAgent(agentId));
  const state = stateOf(agent);
  context.record(
    'agent',
    agent,
    () =>
      `${context.colours.bold(agent.alias)} ${statePaint(state, context.colours)(state)}: ${printable(agent.detail)}`,
  );
  if (agent.run?.questions) return errorCodes.needs_input.exit;
  return agent.run?.status === 'completed' ? 0 : 1;
}

async function readTask(words: string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== '-') return words.join(' ');
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > limits.taskBytes) {
      throw new PawlError('too_large', `The task has more than ${limits.taskBytes} bytes.`, {
        hint: 'Put the material into a file of the repository and name that file in the task; the limit stands.',
      });
    }
  }
  return Buffer.concat(parts).toString('utf8');
}
