import { confinementOf, stateOf } from '@pawl/present/agents/agent-text';
import { agentTone } from '@pawl/present/state-tone';
import { printable, printableLine } from '@pawl/present/text';
import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { shellWord } from '@pawl/schema/shell-word';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { withProvider } from '../../agent/provider-choice.ts';
import { shellVariables } from '../../agent/shell-variables.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { projectsAsked } from '../../project/project-word.ts';
import { answerResult, waitForRun } from '../../agent/run-wait.ts';
import { readText } from '../../terminal/standard-input.ts';
import { followOutput } from './logs.ts';
import { painter } from '../../terminal/palette.ts';

export type WorkOptions = {
  as?: string;
  provider?: string;
  model?: string;
  name?: string;
  base?: string;
  branch?: string;
  pushTo?: string;
  scenario?: string;
  option?: Record<string, string>;
  mode?: WorkBody['mode'];
  account?: string;
  budget?: NonNullable<WorkBody['budget']>;
  access?: WorkBody['access'];
  /** False gives its sessions the key itself. */
  proxy?: false;
  task?: string;
  next?: boolean;
  /** The number of an issue on GitHub. */
  issue?: number;
  /** False for work without a project. */
  project?: string[] | false;
  repo?: string[];
  follow?: boolean;
  wait?: boolean;
  /** The plan that a planning mode works for, and the phase of which it plans the tasks. */
  plan?: string;
  phase?: string;
};

/** Puts an agent to work on a task, in its own worktree and branch. */
export async function work(context: CommandContext, words: string[], options: WorkOptions): Promise<number> {
  const planned = options.next === true || options.task !== undefined;
  if (words.length === 0 && !planned && options.issue === undefined) {
    throw new PawlError('usage', 'No task given.', {
      hint: 'Say what to do: pawl work "fix the login test"; or take a planned task: pawl work --next.',
    });
  }
  const base = options.base ?? options.branch;
  const body: WorkBody = {
    ...projectsAsked(options.project ?? options.repo),
    task: withPush(await taskOf(words, options), options),
    ...(await shellVariables(context.home)),
    ...(options.as === undefined ? {} : { definition: options.as }),
    ...searchPathOf(process.env),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.name === undefined ? {} : { alias: options.name }),
    ...(base === undefined ? {} : { base }),
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.plan === undefined ? {} : { plan: options.plan }),
    ...(options.phase === undefined ? {} : { phase: options.phase }),
    ...(options.account === undefined ? {} : { account: options.account }),
    ...(options.budget === undefined ? {} : { budget: options.budget }),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.proxy === false ? { noProxy: true } : {}),
    ...(options.next ? { planned: '@next' } : options.task === undefined ? {} : { planned: options.task }),
    ...(options.scenario === undefined && options.option === undefined ? {} : { options: optionsOf(options) }),
  };
  const given = { provider: options.provider, path: body.path };
  const { answer, repeats } = await askOnce(context, ['work', body, options.provider], (key) =>
    withProvider(context, given, (provider) =>
      untilAnswered(context.home, (client) => client.work(provider === undefined ? body : { ...body, provider }, key)),
    ),
  );
  const { agent, whenDone, baseNote, confinement } = answer;
  if (baseNote) context.say(context.colours.yellow(printableLine(baseNote)));
  const access = printableLine(confinementOf(agent, confinement));
  if (confinement.sandbox === 'missing') context.say(context.colours.yellow(access));
  if (options.wait && agent.run !== null) {
    context.say(context.colours.dim(`${agent.alias} is at work; its result later: pawl result ${agent.run.id}`));
    return answerResult(context, await waitForRun(context, agent.run.id, null));
  }
  context.answer('agent', { ...agent, whenDone, baseNote, confinement, ...(repeats ? { repeats } : {}) }, () => {
    const branch = agent.branch === null ? '' : ` on ${agent.branch}`;
    const then = whenDone === null ? [] : [`when it is done: ${printableLine(whenDone.text)}`];
    const before = repeats ? ['the same command started it before; to start another one, run the command again'] : [];
    const confined = confinement.sandbox === 'missing' ? [] : [access];
    const more = [...before, ...confined, `watch it: pawl logs -f ${agent.alias}`, ...then].map((line) =>
      context.colours.dim(line),
    );
    return [`${context.colours.bold(agent.alias)} is at work${branch}`, ...more].join('\n');
  });
  return options.follow ? followToEnd(context, agent.id) : 0;
}

/** Shows an agent's output and how it ended, also as the exit code. */
async function followToEnd(context: CommandContext, agentId: string): Promise<number> {
  await followOutput(context, agentId, { raw: false });
  const { agent } = await withDaemon(context.home, (client) => client.inspectAgent(agentId, { worktree: false }));
  const state = stateOf(agent);
  context.record(
    'agent',
    agent,
    () =>
      `${context.colours.bold(agent.alias)} ${painter(agentTone(state), context.colours)(state)}: ${printable(agent.detail)}`,
  );
  if (agent.run?.questions) return errorCodes.needs_input.exit;
  if (agent.run?.cause?.reason === 'budget') return errorCodes.budget.exit;
  return agent.run?.status === 'completed' ? 0 : 1;
}

function optionsOf({ scenario, option }: WorkOptions): Record<string, string> {
  return { ...option, ...(scenario === undefined ? {} : { scenario: resolve(scenario) }) };
}

/** A branch name without special meaning to git or a shell. */
// oxlint-disable-next-line no-control-regex -- git refuses control characters
const branchName = /^(?!-)[^\u0000-\u0020\u007F~^:?*[\\]{1,240}$/;

/** The task, with the branch to push its commits to. */
function withPush(task: string, { pushTo, base, branch }: WorkOptions): string {
  if (pushTo === undefined) return task;
  if (base === undefined && branch === undefined) {
    throw new PawlError('usage', '--push-to needs --branch: the pushed work must start at that branch.');
  }
  if (!branchName.test(pushTo)) throw new PawlError('usage', `${JSON.stringify(pushTo)} is not the name of a branch.`);
  const target = shellWord(`HEAD:refs/heads/${pushTo}`);
  return `${task}\n\nWhen it is done and committed, push it: \`git push origin ${target}\` (never with force).`;
}

/** The task in words; with an issue, its text, followed by the words. */
async function taskOf(words: string[], { issue, project, repo }: WorkOptions): Promise<string> {
  const said = await readTask(words);
  if (issue === undefined) return said;
  const [place] = (project === false ? [] : (project ?? repo)) ?? [];
  const directory = place !== undefined && existsSync(place) ? place : '.';
  const { issueText } = await import('../plan/plan-text-source.ts');
  const { text } = await issueText(issue, resolve(directory));
  return said === '' ? text : `${text}\n${said}`;
}

async function readTask(words: string[]): Promise<string> {
  return words.length === 1 && words[0] === '-' ? readText() : words.join(' ');
}
