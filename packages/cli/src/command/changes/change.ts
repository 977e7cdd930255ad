import { count, duration } from '@pawl/present/amount';
import { changeTone } from '@pawl/present/state-tone';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { ChangeView, OpenChangeBody } from '@pawl/protocol/changes/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import { authorOf, changeLine, describeChange, logText, nextOf, shortId } from '../../view/change-text.ts';
import type { CommandContext } from '../../context.ts';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import { currentBranch } from '../../project/current-branch.ts';
import { diffText } from '../../view/diff-text.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { ownAgentId } from '../../agent/own-agent.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';
import { table } from '../../terminal/table.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

/**
 * Proposes a branch for the target branch: an agent's own, or the one checked out here. A proposed branch moves to its
 * tip; the same commit twice is one change, so a request may be repeated.
 */
export async function openChange(
  context: CommandContext,
  branch: string | undefined,
  options: ProjectOption & { title?: string; summary?: string; draft?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const summary = options.summary === '-' ? await readText() : options.summary;
  const body: OpenChangeBody = {
    ...placeOf(branch, options, environment),
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(summary === undefined ? {} : { summary }),
    ...(options.draft ? { draft: true } : {}),
  };
  const opened = await untilAnswered(context.home, (client) => client.openChange(body));
  const { change, created, moved } = opened;
  context.answer('change', opened, () => {
    const how = created ? 'opened' : moved ? 'moved on' : 'there already';
    const next = nextOf(change) ?? `follow it: pawl change show ${shortId(change.id)}, or pawl queue`;
    return `${how}: ${changeLine(change, context.colours)}\n${context.colours.dim(next)}`;
  });
  return 0;
}

/** Resolves branch and repository. An agent that names neither means its own. */
function placeOf(
  branch: string | undefined,
  { project }: ProjectOption,
  environment: NodeJS.ProcessEnv,
): Pick<OpenChangeBody, 'path' | 'branch'> {
  if (ownAgentId(environment) !== undefined)
    return { ...projectPath({ project }), ...(branch === undefined ? {} : { branch }) };
  const path = resolve(project ?? '.');
  return { path, branch: branch ?? currentBranch(path, 'Name it: pawl change open <branch>') };
}

/** Lists changes, newest first: open ones, or all. */
export async function listChanges(
  context: CommandContext,
  options: ProjectOption & { all?: boolean },
): Promise<number> {
  const query = { ...projectPath(options), ...(options.all ? { all: true } : {}) };
  const list = await withDaemon(context.home, (client) => client.listChanges(query));
  context.answer('changes', list, () => {
    if (list.changes.length === 0) return 'no changes; propose the branch you are on: pawl change open';
    const more = list.more ? `\n${context.colours.dim('(older ones are left out; -C shows one project)')}` : '';
    return `${changeTable(list.changes, context)}${waitingLine(list.changes, context)}${more}`;
  });
  return 0;
}

function changeTable(changes: ChangeView[], { colours, columns }: CommandContext): string {
  const now = Date.now();
  const hasSeveral = new Set(changes.map(({ project }) => project.id)).size > 1;
  const titles = [
    { title: 'ID' },
    { title: 'STATE' },
    ...(hasSeveral ? [{ title: 'PROJECT' }] : []),
    { title: 'AUTHOR' },
    { title: 'AGE' },
    { title: 'CHANGE', flexible: true },
  ];
  const rows = changes.map((change) => [
    span(shortId(change.id), 'muted'),
    span(change.state, changeTone(change.state)),
    ...(hasSeveral ? [change.project.name] : []),
    authorOf(change),
    duration(Math.max(0, now - change.openedAt)),
    change.title,
  ]);
  return table(titles, rows, colours, columns);
}

function waitingLine(changes: ChangeView[], { colours }: CommandContext): string {
  const waiting = changes.filter(({ needsPerson }) => needsPerson).length;
  return waiting === 0 ? '' : `\n${colours.yellow(`${count(waiting, 'change')} waiting for you: pawl inbox`)}`;
}

/** Shows one change: its state and why, its comments and its checks. */
export async function showChange(context: CommandContext, reference: string, options: ProjectOption): Promise<number> {
  const detail = await withDaemon(context.home, (client) => client.showChange(reference, projectPath(options)));
  context.answer('change', detail, () => describeChange(detail, context.colours, Date.now()));
  return 0;
}

/** Shows the diff of a change. */
export async function diffChange(
  context: CommandContext,
  given: string | undefined,
  options: ProjectOption & { stat?: boolean },
): Promise<number> {
  const reference = given ?? (await currentChange(context));
  const diff = await withDaemon(context.home, (client) => client.diffChange(reference, projectPath(options)));
  context.answer('diff', diff, () =>
    diff.files.length === 0 ? `${printableLine(diff.branch)} brings nothing` : diffText(diff, options),
  );
  return 0;
}

/** The change of the default agent. */
async function currentChange({ home }: CommandContext): Promise<string> {
  const id = await agentOrCurrent(home, undefined);
  const { agent } = await withDaemon(home, (client) => client.inspectAgent(id, { worktree: false }));
  if (agent.change !== null) return agent.change.id;
  throw new PawlError('not_found', `${agent.alias} has no change.`, {
    hint: `What its branch and worktree have: pawl diff ${agent.alias}`,
  });
}

/** Shows the diff of an agent's change, or, without one, of its branch and worktree against its base. */
export async function diffAgent(
  context: CommandContext,
  given: string | undefined,
  options: { stat?: boolean },
): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const diff = await withDaemon(context.home, async (client) => {
    const { agent } = await client.inspectAgent(reference, { worktree: false });
    return agent.change === null ? client.diffErrand(agent.id) : client.diffChange(agent.change.id);
  });
  context.answer('diff', diff, () =>
    diff.files.length === 0 ? `nothing changed on ${printableLine(diff.branch)}` : diffText(diff, options),
  );
  return 0;
}

/** Shows the output of a change's latest check, or of the named one. */
export async function logChange(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { check?: string },
): Promise<number> {
  const query = { ...projectPath(options), ...(options.check === undefined ? {} : { check: options.check }) };
  const log = await withDaemon(context.home, (client) => client.changeLog(reference, query));
  context.answer('log', log, () => logText(log, context.colours, Date.now()));
  return 0;
}
