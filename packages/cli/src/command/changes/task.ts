import { taskTone } from '@pawl/present/state-tone';
import { printable, printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { TaskDetail, TaskView } from '@pawl/protocol/plan/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { readText } from '../../terminal/standard-input.ts';
import type { Palette } from '../../terminal/palette.ts';
import { table } from '../../terminal/table.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

const columns = [
  { title: 'ID' },
  { title: 'STATE' },
  { title: 'PROJECT' },
  { title: 'PHASE' },
  { title: 'AGENT' },
  { title: 'TASK', flexible: true },
  { title: 'DETAIL', flexible: true },
];

/** How much of an id a listing shows: enough to name the task. */
const idCharacters = 6;

/** Adds a task to the plan of a project, or beside an agent's task. */
export async function addTask(
  context: CommandContext,
  name: string,
  options: ProjectOption & { description?: string; phase?: string; after?: string[]; agentId?: string },
): Promise<number> {
  const description = options.description === '-' ? await readText() : options.description;
  const path = options.agentId === undefined ? { path: resolve(options.project ?? '.') } : projectPath(options);
  const body = {
    ...path,
    name,
    ...(description === undefined ? {} : { description }),
    ...(options.phase === undefined ? {} : { phase: options.phase }),
    ...(options.after === undefined ? {} : { after: options.after }),
    ...(options.agentId === undefined ? {} : { agent: options.agentId }),
  };
  const added = await withDaemon(context.home, (client) => client.addTask(body));
  const { task } = added;
  context.answer('task', added, () => {
    const head = `${added.created ? 'added' : 'there already:'} ${context.colours.bold(printableLine(task.name))}`;
    return `${head} (${task.id.slice(0, idCharacters)}, ${task.state})`;
  });
  return 0;
}

/** Lists the tasks of a project in the order added. */
export async function listTasks(
  context: CommandContext,
  options: ProjectOption & { state?: TaskView['state']; phase?: string; all?: boolean },
): Promise<number> {
  const query = {
    ...projectPath(options),
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.phase === undefined ? {} : { phase: options.phase }),
    ...(options.all ? { all: true } : {}),
  };
  const list = await withDaemon(context.home, (client) => client.listTasks(query));
  context.answer('tasks', list, () => {
    if (list.tasks.length === 0) return 'no tasks; add one: pawl task add "what to do"';
    const rows = list.tasks.map((task) => [
      span(task.id.slice(0, idCharacters), 'muted'),
      span(task.state, taskTone(task.state)),
      task.project?.name ?? '-',
      task.phase === '' ? '-' : task.phase,
      task.agent?.alias ?? '-',
      task.name,
      task.detail,
    ]);
    const more = list.more
      ? `\n${context.colours.dim('(older ones are left out; --phase or --state shows fewer)')}`
      : '';
    return table(columns, rows, context.colours, context.columns) + more;
  });
  return 0;
}

/** Shows one task with its dependencies, its agents and its result. */
export async function showTask(context: CommandContext, reference: string, options: ProjectOption): Promise<number> {
  const detail = await withDaemon(context.home, (client) => client.showTask(reference, projectPath(options)));
  context.answer('task', detail, () => describe(detail, context.colours));
  return 0;
}

/** Completes, blocks, unblocks or edits a task. */
export async function changeTask(
  context: CommandContext,
  verb: 'done' | 'block' | 'unblock' | 'edit',
  reference: string,
  options: ProjectOption & { summary?: string; reason?: string; priority?: TaskView['priority']; cancel?: boolean },
): Promise<number> {
  if (options.reason?.trim() === '') throw new PawlError('usage', 'The reason is empty.');
  const summary = options.summary === '-' ? await readText() : options.summary;
  const body = {
    ...(summary === undefined ? {} : { summary }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.cancel === undefined ? {} : { cancel: options.cancel }),
  };
  const { task } = await withDaemon(context.home, (client) =>
    client.changeTask(reference, verb, body, projectPath(options)),
  );
  context.answer('task', { task }, () => {
    const detail = task.detail === '' ? '' : `: ${printableLine(task.detail)}`;
    return `${context.colours.bold(printableLine(task.name))} is ${task.state}${detail}`;
  });
  return 0;
}

function describe({ task, dependencies, dependents, agents }: TaskDetail, colours: Palette): string {
  const rows: [string, string][] = [
    ['id', task.id],
    ['state', task.detail === '' ? task.state : `${task.state}: ${task.detail}`],
    ['project', task.project?.name ?? '-'],
    ['phase', task.phase === '' ? '-' : task.phase],
    ['agent', task.agent?.alias ?? '-'],
    ['worked on by', agents.map(({ alias }) => alias).join(', ') || '-'],
    ['crashes', String(task.crashes)],
    ['waits for', dependencies.map(({ name, state }) => `${name} (${state})`).join(', ') || '-'],
    ['before', dependents.map(({ name, state }) => `${name} (${state})`).join(', ') || '-'],
  ];
  const lines = rows.map(([name, value]) => `${colours.dim(name.padEnd(13))}${printableLine(value)}`);
  const texts = [
    ['description', task.description],
    ['summary', task.summary ?? ''],
  ].filter(([, text]) => text !== '');
  return [
    colours.bold(printableLine(task.name)),
    ...lines,
    ...texts.flatMap(([name = '', text = '']) => ['', colours.dim(name), printable(text).trimEnd()]),
  ].join('\n');
}
