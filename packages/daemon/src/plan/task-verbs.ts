import { checkCase } from '@pawl/core/definitions/gate';
import { taskRoutes } from '@pawl/protocol/plan/routes';
import { taskState } from '@pawl/core/plan/plan';
import type { EditTaskBody } from '@pawl/protocol/plan/view';
import type { AddTaskBody, TaskDetail, TaskList, TaskView } from '@pawl/protocol/plan/view';
import { openRepository } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project, Task } from '@pawl/schema/record';
import { isOver } from '@pawl/core/changes/change-life';
import { changesOfTask } from '@pawl/store/changes/changes';
import { viewOf as viewOfChange } from '../changes/change-view.ts';
import { agentById } from '@pawl/store/agents/agents';
import { listProjects, projectByRoot } from '@pawl/store/projects/projects';
import type { Database } from '@pawl/store/tables';
import { agentsOfTask, listTasks, taskById, updateTask } from '@pawl/store/projects/tasks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { projectOf } from '../platform/platform.ts';
import type { Agents } from '../agents/agents.ts';
import { rightsOf } from '../definitions/home-definitions.ts';
import {
  addTask,
  blockTask,
  completeTask,
  dependenciesOf,
  findTask,
  finishTask,
  landsLater,
  withDependencies,
} from '../tasks/tasks.ts';
import { planReadings } from '../tasks/plan-facts.ts';

/** The caller: null for a person, or an agent, which sees only its own project's plan. */
export type Asker = Agent | null;

export type TaskQuery = { path?: string | undefined };

type ListQuery = TaskQuery & { state?: TaskView['state'] | undefined; phase?: string | undefined; all: boolean };

/** Operations on the tasks of a project for a person or an agent. */
export function createTaskVerbs(platform: DefinitionPlatform, agents: Pick<Agents, 'find'>) {
  const { store } = platform;

  /** Finds a task, changes it in one transaction, and returns its view. */
  async function change(
    reference: string,
    query: TaskQuery,
    act: (tx: WriteTransaction, task: Task) => Promise<void>,
  ): Promise<TaskView> {
    const { id } = await find(platform, null, reference, query);
    await store.write(async (tx) => {
      const task = await required(tx.db, id);
      refuseCompleted(task);
      await act(tx, task);
    });
    return viewOf(platform, id);
  }

  return {
    /** Adds a task to the project at a path, or as a sibling of an agent's task. */
    async add(asker: Asker, body: AddTaskBody): Promise<{ task: TaskView; created: boolean }> {
      const sibling = body.agent === undefined ? null : await agents.find(body.agent);
      return add(platform, asker, body, sibling);
    },

    /** The tasks of a project, or of all, by state and phase. */
    list: (asker: Asker, query: ListQuery) => list(platform, asker, query),

    /** A task with its dependencies, its dependents, and its agents. */
    show: (asker: Asker, reference: string, query: TaskQuery) => show(platform, asker, reference, query),

    /** Completes a task by hand: allowed for a person, its own agent, and an agent with Finalize. */
    complete: (asker: Asker, reference: string, query: TaskQuery & { summary?: string | undefined }) =>
      complete(platform, asker, reference, query),

    /** Changes the priority of a task, which counts at once, or cancels it. */
    edit: (reference: string, query: TaskQuery & EditTaskBody) =>
      change(reference, query, (tx, task) => editTask(tx, task, query)),

    /** Blocks a task for a reason, so that it is not claimed. */
    block: (reference: string, query: TaskQuery & { reason: string }) =>
      change(reference, query, (tx, task) => blockTask(tx, task, query.reason)),

    /** Removes the reason, and resets the count of crashes. */
    unblock: (reference: string, query: TaskQuery) => change(reference, query, unblockTask),
  };
}

async function find(platform: DefinitionPlatform, asker: Asker, reference: string, { path }: TaskQuery): Promise<Task> {
  return findTask(platform.store.db, reference, (await projectAt(platform, asker, path))?.id);
}

async function viewOf(platform: DefinitionPlatform, id: string): Promise<TaskView> {
  const [view] = await views(platform, [await required(platform.store.db, id)]);
  if (view === undefined) throw new PawlError('not_found', `There is no task ${id}.`);
  return view;
}

async function add(
  platform: DefinitionPlatform,
  asker: Asker,
  body: AddTaskBody,
  sibling: Agent | null,
): Promise<{ task: TaskView; created: boolean }> {
  const place = sibling === null ? null : await placeBeside(platform, sibling);
  if (asker !== null && place !== null && place.project.id !== asker.projectId) throw foreignPlan();
  const project = place?.project ?? (await projectAt(platform, asker, body.path));
  if (project === null) {
    throw new PawlError('invalid_input', 'No project given.', {
      hint: 'Run this inside a project, or name it with -C.',
    });
  }
  const { task, created } = await addTask(platform.store, {
    projectId: project.id,
    phase: body.phase ?? place?.phase ?? '',
    name: body.name,
    description: body.description ?? '',
    after: body.after ?? [],
    createdBy: asker?.id ?? null,
    foundWhile: body.phase === undefined ? (place?.task ?? null) : null,
  });
  return { task: await viewOf(platform, task.id), created };
}

async function list(platform: DefinitionPlatform, asker: Asker, query: ListQuery): Promise<TaskList> {
  const project = await projectAt(platform, asker, query.path);
  const tasks = await listTasks(platform.store.db, {
    includeCompleted: query.all || query.state === 'completed',
    ...(project === null ? {} : { projectId: project.id }),
    ...(query.phase === undefined ? {} : { phase: query.phase }),
  });
  const shown = (await views(platform, tasks)).filter(
    ({ state }) => query.state === undefined || state === query.state,
  );
  return { tasks: shown.slice(-limits.pageRows), more: shown.length > limits.pageRows };
}

async function show(
  platform: DefinitionPlatform,
  asker: Asker,
  reference: string,
  query: TaskQuery,
): Promise<TaskDetail> {
  const { db } = platform.store;
  const task = await find(platform, asker, reference, query);
  const all = await listTasks(db, { projectId: task.projectId, includeCompleted: true });
  const dependents = await views(
    platform,
    all.filter((each) => each.dependsOn.includes(task.id)),
  );
  const dependencies = await views(platform, await dependenciesOf(db, task));
  return {
    task: await viewOf(platform, task.id),
    dependencies: dependencies.map(({ id, name, state, summary }) => ({ id, name, state, summary })),
    dependents: dependents.map(({ id, name, state }) => ({ id, name, state })),
    agents: (await agentsOfTask(db, task.id)).map(({ id, alias }) => ({ id, alias })),
  };
}

async function complete(
  platform: DefinitionPlatform,
  asker: Asker,
  reference: string,
  query: TaskQuery & { summary?: string | undefined },
): Promise<TaskView> {
  const { id } = await find(platform, asker, reference, query);
  const rights = asker === null ? null : await rightsOf(platform, asker);
  await platform.store.write(async (tx) => {
    const task = await required(tx.db, id);
    if (rights !== null && task.agentId !== asker?.id) checkCase(taskRoutes.completeTask.access, rights);
    // The agent keeps the task until its run ends; then its last message becomes the summary, if there is none.
    const given = { summary: query.summary ?? null, by: asker?.id ?? null };
    // An agent's own task is completed when its work has landed; another's at once, as for a person.
    const isOwn = asker !== null && task.agentId === asker.id;
    if (isOwn && task.completedAt === null && (await landsLater(tx.db, asker)))
      return finishTask(tx, task, asker, given);
    await completeTask(tx, task, { ...given, agentId: task.agentId });
  });
  return viewOf(platform, id);
}

/** The project at a path. An agent has only its own. */
export async function projectAt(
  { store }: DefinitionPlatform,
  asker: Asker,
  path: string | undefined,
): Promise<Project | null> {
  const own = asker === null ? null : await projectOf(store, asker);
  if (path === undefined) return own;
  const { root } = await openRepository(path);
  const project = await projectByRoot(store.db, root);
  if (project === null) {
    throw new PawlError('project_not_found', `${root} is not a project yet.`, {
      hint: 'Run `pawl init` there first.',
    });
  }
  if (own !== null && own.id !== project.id) throw foreignPlan();
  return project;
}

/** The project and phase for a sibling of an agent's task; no phase if the agent has no task. */
async function placeBeside(
  platform: DefinitionPlatform,
  agent: Agent,
): Promise<{ project: Project; phase: string; task: Task | null }> {
  const project = await projectOf(platform.store, agent);
  const task = agent.taskId === null ? null : await taskById(platform.store.db, agent.taskId);
  return { project, phase: task?.phase ?? '', task };
}

async function editTask(tx: WriteTransaction, task: Task, { priority, cancel }: EditTaskBody): Promise<void> {
  const { id, name, projectId } = task;
  if (cancel === true && task.agentId !== null)
    throw new PawlError('conflict', `An agent works on the task ${name}.`, { hint: 'Stop the agent first.' });
  await updateTask(tx, id, {
    ...(priority === undefined ? {} : { priority }),
    ...(cancel === true ? { cancelledAt: tx.now } : {}),
  });
  tx.emit({ type: 'task.edited', projectId, data: { taskId: id } });
}

async function unblockTask(tx: WriteTransaction, { id, projectId, blockedReason }: Task): Promise<void> {
  if (blockedReason === null) return;
  await updateTask(tx, id, { blockedReason: null, crashes: 0, failedAt: null });
  tx.emit({ type: 'task.requeued', projectId, data: { taskId: id, crashes: 0, reason: 'unblocked' } });
}

async function required(db: Database, id: string): Promise<Task> {
  const task = await taskById(db, id);
  if (task === null) throw new PawlError('not_found', `There is no task ${id}.`);
  return task;
}

function refuseCompleted(task: Task): void {
  if (task.completedAt === null) return;
  throw new PawlError('conflict', `The task ${task.name} is completed.`, { hint: 'Add another one for what is left.' });
}

function foreignPlan(): PawlError {
  return new PawlError('forbidden', 'Agents may only access the plan of their own project.');
}

/** The change that a finished task waits for, if it is open. */
async function changeOf(
  platform: DefinitionPlatform,
  { id, finishedAt, completedAt }: Task,
): Promise<TaskView['change']> {
  if (finishedAt === null || completedAt !== null) return null;
  const change = (await changesOfTask(platform.store.db, id)).findLast((each) => !isOver(each));
  if (change === undefined) return null;
  const { state, detail } = await viewOfChange(platform, change.id);
  return { id: change.id, state, detail };
}

/** Tasks as they are shown. */
export async function views(platform: DefinitionPlatform, tasks: readonly Task[]): Promise<TaskView[]> {
  const { db } = platform.store;
  const known = await withDependencies(db, tasks);
  const gates = await planReadings(db, tasks);
  const projects = new Map((await listProjects(db)).map(({ id, name }) => [id, { id, name }]));
  const shown: TaskView[] = [];
  for (const task of tasks) {
    const agent = task.agentId === null ? null : await agentById(db, task.agentId);
    const reading = gates.get(task.id) ?? taskState(task, known);
    const change = await changeOf(platform, task);
    shown.push({
      ...task,
      ...reading,
      ...(change === null ? {} : { detail: `its change ${change.id.slice(0, 8)} is ${change.state}` }),
      change,
      project: projects.get(task.projectId) ?? null,
      agent: agent === null ? null : { id: agent.id, alias: agent.alias },
    });
  }
  return shown;
}
