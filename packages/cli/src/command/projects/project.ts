import { count } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { ProjectDetail, ProjectReference } from '@pawl/protocol/projects/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { table } from '../../terminal/table.ts';
import { crewBody } from './crew.ts';

const columns = [
  { title: 'PROJECT' },
  { title: 'PROVIDER' },
  { title: 'CREW' },
  { title: 'AGENTS' },
  { title: 'ROOT' },
];

/** Lists tracked projects, or all. */
export async function listProjects(context: CommandContext, options: { all?: boolean }): Promise<number> {
  const { projects } = await withDaemon(context.home, (client) => client.listProjectDetails());
  const shown = projects.filter(({ settings }) => options.all === true || settings.untrackedAt === null);
  context.answer('projects', { projects: shown }, () => {
    if (shown.length === 0) return noProjects(projects.length);
    const rows = shown.map(({ project, settings, agents }) => [
      span(project.name, 'strong'),
      settings.provider ?? '-',
      settings.untrackedAt !== null ? 'untracked' : settings.crewWantedAt === null ? 'off' : 'on',
      `${agents.living}${agents.atWork === 0 ? '' : ` (${agents.atWork} at work)`}`,
      printableLine(project.root),
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

function noProjects(untracked: number): string {
  if (untracked === 0) return 'no projects yet; make a repository one: pawl init';
  return `no project is tracked; ${untracked} untracked: pawl project ls --all shows them, pawl init PATH tracks one again`;
}

/** Shows one project with its settings. */
export async function showProject(context: CommandContext, word: string | undefined): Promise<number> {
  const [detail] = (await withDaemon(context.home, (client) => client.listProjectDetails(meant(word)))).projects;
  if (detail === undefined) throw new PawlError('project_not_found', 'There is no such project.');
  return answerWith(context, detail);
}

type Change = (reference: ProjectReference, value: string | null) => Promise<unknown>;

/** Shows the settings of a project, or changes one of them. */
export async function configProject(
  context: CommandContext,
  setting: string | undefined,
  value: string | undefined,
  options: { project?: string; unset?: boolean },
): Promise<number> {
  const reference = meant(options.project);
  const changes: Record<string, Change> = {
    provider: (at, provider) =>
      untilAnswered(context.home, (client) => client.changeProjectSettings({ ...at, provider })),
    crew: async (at, word) => {
      const isOn = onOrOff(word);
      const body = { ...(await crewBody(context.home, '.', {})), path: undefined, ...at };
      return untilAnswered(context.home, (client) => (isOn ? client.startCrew(body) : client.stopCrew(at)));
    },
  };
  if (setting !== undefined) {
    const change = changes[setting];
    if (change === undefined || !Object.hasOwn(changes, setting)) {
      throw new PawlError('usage', `There is no setting ${JSON.stringify(setting.slice(0, 80))}.`, {
        hint: 'A project has: provider, crew. Whether main may be pushed is decided with `pawl queue`.',
      });
    }
    if ((value === undefined) !== (options.unset === true)) {
      throw new PawlError('usage', `No value given for ${setting}. Pass one, or --unset.`, {
        hint: `For example: pawl project config ${setting} ${setting === 'crew' ? 'on' : 'claude'}`,
      });
    }
    await change(reference, value ?? null);
  }
  const [detail] = (await withDaemon(context.home, (client) => client.listProjectDetails(reference))).projects;
  if (detail === undefined) throw new PawlError('project_not_found', 'There is no such project.');
  return answerWith(context, detail);
}

/** Stops tracking a project. */
export async function removeProject(
  context: CommandContext,
  word: string | undefined,
  options: { force?: boolean },
): Promise<number> {
  const body = { ...meant(word), ...(options.force ? { force: true } : {}) };
  const detail = await untilAnswered(context.home, (client) => client.untrackProject(body));
  const { project, agents } = detail;
  context.answer('project', detail, () =>
    [
      `${context.colours.bold(project.name)} is not tracked any more; nothing was deleted`,
      ...(agents.living === 0 ? [] : [`${count(agents.living, 'agent')} of it rest and keep their worktrees`]),
      context.colours.dim(`track it again with everything as it was: pawl init ${printableLine(project.root)}`),
    ].join('\n'),
  );
  return 0;
}

function answerWith(context: CommandContext, detail: ProjectDetail): number {
  const { project, settings, agents } = detail;
  context.answer('project', detail, () =>
    [
      `${context.colours.bold(project.name)}  ${printableLine(project.root)}`,
      `provider  ${settings.provider ?? '- (the home’s, or the only one that is installed)'}`,
      `crew      ${settings.crewWantedAt === null ? 'off' : 'on'}`,
      `push      ${settings.pushAllowedAt === null ? 'not allowed' : `allowed since ${new Date(settings.pushAllowedAt).toISOString()}`}`,
      `tracked   ${settings.untrackedAt === null ? 'yes' : `no, since ${new Date(settings.untrackedAt).toISOString()}`}`,
      `agents    ${agents.living} living, ${agents.atWork} at work`,
    ].join('\n'),
  );
  return 0;
}

function onOrOff(word: string | null): boolean {
  if (word === 'on') return true;
  if (word === 'off' || word === null) return false;
  throw new PawlError('usage', `${JSON.stringify(word.slice(0, 80))} is neither on nor off.`);
}

/** A word with a slash or a leading dot is a path; any other is a project's name or id. */
function meant(word: string | undefined): ProjectReference {
  if (word === undefined || word.includes('/') || word.startsWith('.')) return { path: resolve(word ?? '.') };
  return { project: word };
}
