import { runDuration, stateOf } from '@pawl/present/agents/agent-text';
import { agentTone } from '@pawl/present/state-tone';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { resolve } from 'node:path';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import { diffText } from '../../view/diff-text.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { withProvider } from '../../agent/provider-choice.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: 'AGENT' },
  { title: 'STATE' },
  { title: 'PROJECT' },
  { title: 'TIME' },
  { title: 'BRANCH' },
  { title: 'ERRAND', flexible: true },
];

/** Starts an errand: an agent with a small task, whose worktree is kept until a person has decided. */
export async function startErrand(
  context: CommandContext,
  words: string[],
  options: {
    provider?: string;
    model?: string;
    name?: string;
    project?: string;
    scenario?: string;
    access?: WorkBody['access'];
  },
): Promise<number> {
  const task = words.join(' ');
  if (task.length > limits.errandCharacters) {
    throw new PawlError('usage', `An errand is described in at most ${limits.errandCharacters} characters.`, {
      hint: 'Send the rest with `pawl errand send`, or use `pawl work` for something larger.',
    });
  }
  const body: WorkBody = {
    path: resolve(options.project ?? '.'),
    task,
    mode: 'errand',
    ...searchPathOf(process.env),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.name === undefined ? {} : { alias: options.name }),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.scenario === undefined ? {} : { options: { scenario: resolve(options.scenario) } }),
  };
  const given = { provider: options.provider, path: body.path };
  const { answer } = await askOnce(context, ['errand', body, options.provider], (key) =>
    withProvider(context, given, (provider) =>
      untilAnswered(context.home, (client) => client.work(provider === undefined ? body : { ...body, provider }, key)),
    ),
  );
  const { agent } = answer;
  const { colours } = context;
  context.answer('agent', agent, () => {
    const then = `then: pawl errand diff ${agent.alias}, and merge or abandon`;
    return `${colours.bold(agent.alias)} is on its errand\n${colours.dim(then)}`;
  });
  return 0;
}

/** Lists the errands, newest first. */
export async function listErrands(context: CommandContext, options: { all?: boolean }): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.listErrands(options.all ? { all: true } : {}));
  const now = Date.now();
  context.answer('errands', list, () => {
    if (list.errands.length === 0) return 'no errands; start one: pawl errand start "what to do"';
    const rows = list.errands.map((errand) => {
      const state = errand.endedAt === null ? stateOf(errand) : errand.detail;
      return [
        span(errand.alias, 'strong'),
        span(state, agentTone(state)),
        errand.project?.name ?? '-',
        runDuration(errand, now),
        errand.branch ?? '-',
        errand.description,
      ];
    });
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

/** Sends a message to an errand. */
export async function sendErrand(context: CommandContext, reference: string, message: string): Promise<number> {
  if (message.trim() === '') throw new PawlError('usage', 'The message is empty.');
  const { answer: sent } = await askOnce(context, ['errand send', reference, message], (key) =>
    untilAnswered(context.home, (client) => client.sendErrand(reference, { message }, key)),
  );
  const how = sent.channel === 'live' ? 'got the message in its running turn' : 'continues with that';
  context.answer('sent', sent, () => `${context.colours.bold(sent.agent.alias)} ${how}`);
  return 0;
}

/** Shows what an errand changed since its base. */
export async function diffErrand(
  context: CommandContext,
  given: string | undefined,
  options: { stat?: boolean },
): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const diff = await withDaemon(context.home, (client) => client.diffErrand(reference));
  context.answer('diff', diff, () => {
    if (diff.files.length === 0) return `nothing changed on ${printableLine(diff.branch)}`;
    return diffText(diff, options);
  });
  return 0;
}

/** Merges an errand's branch, and ends the errand. */
export async function mergeErrand(
  context: CommandContext,
  reference: string,
  options: { into?: string; commit?: boolean },
): Promise<number> {
  const body = {
    ...(options.into === undefined ? {} : { into: options.into }),
    ...(options.commit && { commit: true }),
  };
  const merged = await untilAnswered(context.home, (client) => client.mergeErrand(reference, body));
  context.answer('merged', merged, () => {
    const how = merged.already ? 'was merged already' : 'is merged';
    return `${printableLine(merged.branch)} ${how} into ${printableLine(merged.into)} (${merged.commit.slice(0, 10)})`;
  });
  return 0;
}

/** Ends an errand without its work. */
export async function abandonErrand(context: CommandContext, reference: string): Promise<number> {
  const answer = await untilAnswered(context.home, (client) => client.abandonErrand(reference));
  context.answer('abandoned', answer, () => {
    const { agent, branch } = answer;
    const place = agent.worktreeEnd?.state === 'trashed' ? 'its worktree is in the trash' : 'its worktree is kept';
    return `${agent.alias} is abandoned; ${place}, its branch ${printableLine(branch)} stays`;
  });
  return 0;
}
