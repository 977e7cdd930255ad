import { accessOf, changeOf, stateOf } from '@pawl/present/agents/agent-text';
import { duration, tokens } from '@pawl/present/amount';
import { agentTone } from '@pawl/present/state-tone';
import { printable, printableLine } from '@pawl/present/text';
import type { AgentView, Inspection } from '@pawl/protocol/agents/view';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';
import { painter } from '../../terminal/palette.ts';

/** Shows all details of one agent. */
export async function inspect(context: CommandContext, given: string | undefined): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const inspection = await withDaemon(context.home, (client) => client.inspectAgent(reference));
  context.answer('inspection', inspection, () => describe(inspection, context));
  return 0;
}

function describe(inspection: Inspection, { colours }: CommandContext): string {
  const { agent, sessions } = inspection;
  const state = stateOf(agent);
  const line: Line = (name, value) => `  ${colours.dim(name.padEnd(10))} ${value}`;
  return [
    `${colours.bold(agent.alias)} ${painter(agentTone(state), colours)(state)}${agent.detail === '' ? '' : ` — ${printableLine(agent.detail)}`}`,
    line('id', agent.id),
    line('project', agent.project?.name ?? '-'),
    ...identity(inspection, line),
    ...place(inspection, line, colours),
    line(
      'tokens',
      `${tokens(agent.usage.inputTokens)} in, ${tokens(agent.usage.outputTokens)} out, ${agent.cost.usd === null ? 'cost not reported' : `$${agent.cost.usd.toFixed(4)}`}`,
    ),
    ...(agent.run?.questions ?? []).map(({ question }) => line('question', printableLine(question))),
    ...sessions.flatMap((session) => [
      line(
        `session ${session.no}`,
        `${session.purpose}: ${sessionTime(session)}${session.sandbox === 'on' ? ', in a sandbox' : session.sandbox === 'off' ? ', without a sandbox' : ''}`,
      ),
      line('', colours.dim(printableLine(session.directory))),
      line('', colours.dim(`environment: ${session.environment.map(printableLine).join(' ')}`)),
    ]),
    ...(agent.change === null
      ? []
      : [
          line(
            'change',
            printableLine(`${changeOf(agent)}${agent.change.detail === '' ? '' : `: ${agent.change.detail}`}`),
          ),
        ]),
    ...inspection.withheld.flatMap((each) => withheldLines(each, line)),
    line('task', printable(agent.assignment ?? '-')),
  ].join('\n');
}

/** Says who has the API key. */
function keyInWords({ at, why }: NonNullable<Inspection['key']>): string {
  const place = at === 'proxy' ? 'with the proxy, no session has it' : 'in the environment of its sessions';
  return printableLine(`${place}: ${why}`);
}

type Line = (name: string, value: string) => string;

/** How much of an id is shown: enough to name the agent. */
const idCharacters = 6;

/** The agent's identity and family. */
function identity({ agent, runs, key }: Inspection, line: Line): string[] {
  const definition = runs.find(({ id }) => id === agent.run?.id)?.definition;
  const lines = [
    line('definition', `${agent.definition} (${agent.kind}, ${agent.class})`),
    ...(definition?.sources ?? []).map(({ layer, path }) => line('', `${layer}: ${printableLine(path)}`)),
    line('provider', `${agent.provider ?? '-'}${agent.model === null ? '' : ` (${printableLine(agent.model)})`}`),
    line('access', accessOf(agent)),
    ...(key === null ? [] : [line('key', keyInWords(key))]),
  ];
  if (agent.parentId !== null) {
    const inherits = agent.forkMessageId === 0 ? 'inherits nothing' : `forked at message ${agent.forkMessageId}`;
    lines.push(line('parent', `${agent.parentId.slice(0, idCharacters)}, ${inherits}`));
  }
  if (agent.supervisorId !== null && agent.supervisorId !== agent.parentId) {
    lines.push(line('supervisor', `${agent.supervisorId.slice(0, idCharacters)}, since its parent was killed`));
  }
  if (agent.paused) lines.push(line('paused', `its processes are halted; pawl continue ${agent.alias}`));
  return lines;
}

/** The agent's worktrees, or how they ended. */
function place({ agent, worktree, places }: Inspection, line: Line, colours: Palette): string[] {
  if (agent.project === null && agent.worktree !== null) {
    const lines = [line('directory', `${printableLine(agent.worktree)} (it has no project)`)];
    return agent.worktreeEnd === null ? lines : [...lines, line('', worktreeEnd(agent.worktreeEnd))];
  }
  const lines = agent.workdir === null ? [] : [line('directory', printableLine(agent.workdir))];
  const first = { path: agent.worktree, branch: agent.branch, baseCommit: agent.baseCommit, end: agent.worktreeEnd };
  lines.push(...worktreeLines(first, worktree, line, colours));
  for (const [index, each] of agent.places.entries()) {
    lines.push(line('project', each.project.name));
    lines.push(...worktreeLines(each, places[index]?.worktree ?? null, line, colours));
  }
  return lines;
}

/** Commits that were not proposed, why, and how to propose them. */
function withheldLines({ branch, head, definition }: Inspection['withheld'][number], line: Line): string[] {
  const what = `${printableLine(branch)} up to ${head.slice(0, 10)} is not proposed: ${definition} has no Patch`;
  return [line('withheld', what), line('', `to propose it: pawl change open ${printableLine(branch)}`)];
}

type PlaceView = Pick<AgentView['places'][number], 'end'> & {
  path: string | null;
  branch: string | null;
  baseCommit: string | null;
};

/** The branch and the worktree in one project. */
function worktreeLines(
  { path, branch, baseCommit, end }: PlaceView,
  worktree: Inspection['worktree'],
  line: Line,
  colours: Palette,
): string[] {
  const from = baseCommit === null ? '' : ` from ${baseCommit.slice(0, 10)}`;
  const lines = [line('branch', `${branch ?? '-'}${from}`)];
  if (worktree !== null) {
    lines.push(line('worktree', `${printableLine(path ?? '-')} (${contents(end, worktree, colours)})`));
    if (worktree.problem !== null) lines.push(line('', 'its files are untouched; to repair it: pawl doctor'));
  }
  if (end !== null) lines.push(line('', worktreeEnd(end)));
  return lines;
}

function contents(
  end: AgentView['worktreeEnd'],
  worktree: NonNullable<Inspection['worktree']>,
  colours: Palette,
): string {
  const { exists, problem, commits, changed, untracked } = worktree;
  if (!exists) return end?.state === 'trashed' ? 'gone' : colours.red('missing');
  if (problem !== null) return colours.red(printableLine(problem));
  return `${commits ?? '?'} commits, ${changed ?? '?'} changed, ${untracked ?? '?'} untracked`;
}

function worktreeEnd(end: NonNullable<AgentView['worktreeEnd']>): string {
  if (end.state === 'retained') return `retained: ${printableLine(end.reason)}`;
  if (end.state === 'restored') return 'restored from the trash';
  if (end.state === 'missing') return 'nothing was at its path';
  const entry = printableLine(end.entry);
  return `in the trash as ${entry}; pawl worktree restore ${entry}`;
}

function sessionTime({ startedAt, endedAt, pid, endReason }: Inspection['sessions'][number]): string {
  if (startedAt === null) return 'not started';
  return endedAt === null ? `pid ${pid}` : `${duration(endedAt - startedAt)}, ${printableLine(endReason ?? '-')}`;
}
