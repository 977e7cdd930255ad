import type { Landing } from '@pawl/core/agents/landing';
import { isAuthor } from '@pawl/core/agents/landing';
import type { EndedRun } from '@pawl/core/plan/plan';
import { checkTaskPlan, mayStart, pendingTasks, refuseCycle, sameTask, taskEnd, taskState } from '@pawl/core/plan/plan';
import { cutText } from '@pawl/core/shorten';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Agent, Task } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';
import { planBranchOf } from '@pawl/store/plan/initiatives';
import { agentView } from '@pawl/store/agents/agent-views';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { projectById } from '@pawl/store/projects/projects';
import { queueOf } from '@pawl/store/changes/queues';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import {
  findTasks,
  insertTask,
  openTasks,
  takeTask,
  takenTasks,
  taskById,
  tasksByIds,
  tasksTakenBy,
  updateTask,
} from '@pawl/store/projects/tasks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configPath } from '../project-config/config-file.ts';
import { planReadings } from './plan-facts.ts';
import { answerRest } from './review-threads.ts';

export type NewTask = {
  projectId: string;
  phase: string;
  name: string;
  description: string;
  /** References of tasks that must be completed first. */
  after: readonly string[];
  /** The agent that requested it; null for a person. */
  createdBy: string | null;
  /** The task of a plan during which it was found; the new one belongs to the same plan and phase. */
  foundWhile?: Task | null;
  /** The definition that should do it. */
  definition?: string | null;
};

/** Resolves a task by its id, an id prefix, or its exact name. */
export async function findTask(db: Database, reference: string, projectId?: string): Promise<Task> {
  const [first, ...others] = await findTasks(db, reference, projectId);
  const shown = JSON.stringify(reference.slice(0, 80));
  if (first === undefined) {
    throw new PawlError('not_found', `There is no task ${shown}.`, {
      hint: 'See `pawl task ls --all`; an id, the first 4 or more characters of one, or the exact name will do.',
    });
  }
  if (others.length === 0) return first;
  throw new PawlError('ambiguous', `${shown} matches more than one task.`, {
    hint: 'Give more characters of the id, or name the repository with -C.',
    details: { matches: [first, ...others].map(({ id, name }) => ({ id, name })) },
  });
}

/** Refers to the first task that can be claimed. */
const nextTask = '@next';

/** The task that a request names, or the first that can be claimed; null if there is none. */
export async function plannedTask(db: Database, reference: string, projectId: string): Promise<Task | null> {
  if (reference !== nextTask) return findTask(db, reference, projectId);
  const open = await openTasks(db, projectId);
  return pendingTasks(open, await withDependencies(db, open), await planReadings(db, open))[0] ?? null;
}

/** Adds a task to a project's plan, or returns the same open one if it exists. */
export async function addTask(store: Store, wanted: NewTask): Promise<{ task: Task; created: boolean }> {
  return store.write((tx) => addTaskIn(tx, wanted));
}

/** The same in a transaction. */
export async function addTaskIn(tx: WriteTransaction, wanted: NewTask): Promise<{ task: Task; created: boolean }> {
  const { projectId, createdBy, definition = null } = wanted;
  const dependsOn: string[] = [];
  for (const reference of wanted.after) dependsOn.push((await findTask(tx.db, reference, projectId)).id);
  const task: Task = {
    id: newId(),
    projectId,
    phase: wanted.phase.trim(),
    name: wanted.name.trim(),
    description: wanted.description,
    dependsOn: [...new Set(dependsOn)],
    createdBy,
    createdAt: tx.now,
    summary: null,
    finishedAt: null,
    completedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    ...noInitiative,
    ...besideOf(wanted.foundWhile ?? null),
    definition,
  };
  checkTaskPlan(task);
  const open = await openTasks(tx.db, projectId);
  const known = sameTask(open, task);
  if (known !== null) return { task: known, created: false };
  if (open.length >= limits.openTasks) {
    throw new PawlError('conflict', `There are ${open.length} open tasks already.`, {
      hint: 'Complete some of them first.',
    });
  }
  refuseCycle(task, byId(open));
  await insertTask(tx, task);
  const data = { taskId: task.id, name: task.name, phase: task.phase };
  tx.emit({ type: 'task.added', projectId, agentId: createdBy, data });
  return { task, created: true };
}

/** The place in a plan of a task that was found during another one. */
function besideOf(task: Task | null): Partial<Task> {
  if (task === null || task.initiativeId === null) return {};
  const { initiativeId, phaseId, priority } = task;
  return { initiativeId, phaseId, priority, foundWhile: task.id };
}

/**
 * Claims a task, or the first claimable one, for an agent; of concurrent claims one succeeds. Call it in the
 * transaction that creates the agent.
 */
export async function claimTask(
  tx: WriteTransaction,
  reference: string,
  projectId: string,
  agentId: string,
): Promise<Task> {
  const open = await openTasks(tx.db, projectId);
  const known = await withDependencies(tx.db, open);
  const wanted = reference === nextTask ? null : await findTask(tx.db, reference, projectId);
  const gates = await planReadings(tx.db, wanted === null ? open : [wanted]);
  const candidates = wanted === null ? pendingTasks(open, known, gates) : [wanted];
  for (const task of candidates) {
    const reading = gates.get(task.id) ?? taskState(task, known);
    if (!mayStart(reading)) throw notPending(task, reading.state, reading.detail);
    if (!(await takeTask(tx, task.id, agentId))) continue;
    tx.emit({ type: 'task.taken', projectId, agentId, data: { taskId: task.id } });
    return { ...task, agentId };
  }
  if (wanted !== null) throw notPending(wanted, 'in_progress', 'another agent claimed it first');
  throw new PawlError('not_found', 'There is no task to claim now.', {
    hint: 'See `pawl task ls`; add one with `pawl task add`.',
  });
}

function notPending(task: Task, state: string, detail: string): PawlError {
  const hint = {
    in_review: 'Its work is finished and waits for its change; see `pawl task show`.',
    in_progress: 'Another agent works on it; see `pawl task show`.',
    completed: 'It is done. Add another task for what is left.',
  }[state];
  return new PawlError('conflict', `The task ${task.name} is ${state}${detail === '' ? '' : `: ${detail}`}.`, {
    hint: hint ?? 'See `pawl task show`; clear a reason with `pawl task unblock`.',
  });
}

/** Returns a task to its previous agent when it resumes, unless another has claimed it. */
export async function retakeTask(tx: WriteTransaction, agent: Agent): Promise<void> {
  if (agent.taskId === null || !(await takeTask(tx, agent.taskId, agent.id))) return;
  const data = { taskId: agent.taskId };
  tx.emit({ type: 'task.taken', projectId: agent.projectId, agentId: agent.id, data });
}

/** The tasks that a task waits for, in order of creation. */
export async function dependenciesOf(db: Database, task: Task): Promise<Task[]> {
  return tasksByIds(db, task.dependsOn);
}

/** Settles an agent's task when its run ends. Call it in the transaction that ends the run. */
export async function taskAfterRun(tx: WriteTransaction, agent: Agent, run: EndedRun): Promise<void> {
  const task = agent.taskId === null ? null : await taskById(tx.db, agent.taskId);
  if (task === null) return;
  const end = taskEnd(task, agent.id, run);
  switch (end.do) {
    case 'keep':
      return;
    case 'complete': {
      const given = { summary: end.summary, by: agent.id };
      await answerRest(tx, task, agent, end.summary ?? '');
      if (task.completedAt === null && (await landsLater(tx.db, agent))) return finishTask(tx, task, agent, given);
      return completeTask(tx, task, { ...given, agentId: null });
    }
    case 'requeue':
      return requeue(tx, task, end);
    case 'block':
      await updateTask(tx, task.id, { crashes: end.crashes, agentId: null, failedAt: tx.now });
      return blockTask(tx, task, end.reason, agent.id);
  }
}

/** True if an agent's work must become a change before its task is completed: its project has checks. */
export async function landsLater(db: Database, agent: Agent): Promise<boolean> {
  if (isAuthor(agent) && (await planBranchOf(db, agent.taskId)) !== null) return true;
  const project = agent.projectId === null || !isAuthor(agent) ? null : await projectById(db, agent.projectId);
  if (project === null || (await projectSettings(db, project.id)).untrackedAt !== null) return false;
  return existsSync(join(project.root, configPath)) || (await queueOf(db, project.id)) !== null;
}

/** Marks the work on a task finished; its agent keeps the task until the work has landed. */
export async function finishTask(
  tx: WriteTransaction,
  task: Task,
  agent: Agent,
  given: { summary: string | null; by: string | null },
): Promise<void> {
  const said = given.summary ?? task.summary;
  const summary = said === null ? null : cutText(said, limits.taskSummaryCharacters);
  await updateTask(tx, task.id, { summary, finishedAt: task.finishedAt ?? tx.now, agentId: agent.id });
  if (task.finishedAt !== null) return;
  tx.emit({ type: 'task.finished', projectId: task.projectId, agentId: given.by, data: { taskId: task.id } });
}

/** Records what became of finished work. */
export async function recordLanding(tx: WriteTransaction, task: Task, landing: Landing): Promise<void> {
  switch (landing.do) {
    case 'wait':
      return;
    case 'complete':
      return completeTask(tx, task, { summary: null, agentId: null, by: task.agentId });
    case 'requeue':
      return requeue(tx, task, { crashes: task.crashes, reason: landing.reason });
    case 'block':
      await updateTask(tx, task.id, { finishedAt: null, agentId: null, failedAt: tx.now });
      return blockTask(tx, task, landing.reason, task.agentId);
  }
}

/** Completes a task with its result. A second call only adds missing fields. */
export async function completeTask(
  tx: WriteTransaction,
  task: Task,
  given: { summary: string | null; agentId: string | null; by: string | null },
): Promise<void> {
  const said = given.summary ?? task.summary;
  const summary = said === null ? null : cutText(said, limits.taskSummaryCharacters);
  const completedAt = task.completedAt ?? tx.now;
  await updateTask(tx, task.id, {
    summary,
    completedAt,
    blockedReason: null,
    failedAt: null,
    agentId: given.agentId,
  });
  if (task.completedAt !== null) return;
  tx.emit({ type: 'task.completed', projectId: task.projectId, agentId: given.by, data: { taskId: task.id } });
}

/** Records why a task must not be claimed. */
export async function blockTask(
  tx: WriteTransaction,
  task: Task,
  reason: string,
  agentId: string | null = null,
): Promise<void> {
  const blockedReason = cutText(reason, limits.taskSummaryCharacters);
  await updateTask(tx, task.id, { blockedReason });
  tx.emit({
    type: 'task.blocked',
    projectId: task.projectId,
    agentId,
    data: { taskId: task.id, reason: blockedReason },
  });
}

async function requeue(tx: WriteTransaction, task: Task, why: { crashes: number; reason: string }): Promise<void> {
  const { crashes } = why;
  await updateTask(tx, task.id, { crashes, agentId: null, finishedAt: null });
  if (task.completedAt !== null) return;
  const data = { taskId: task.id, crashes, reason: cutText(why.reason, limits.labelCharacters) };
  tx.emit({ type: 'task.requeued', projectId: task.projectId, agentId: task.agentId, data });
}

/** Requeues the tasks of killed agents, in the transaction of the kill; `requeueDead` handles the rest of very many. */
export async function releaseTasks(tx: WriteTransaction, agentIds: readonly string[]): Promise<void> {
  const taken = await tasksTakenBy(tx.db, agentIds);
  const open = taken.filter((task) => task.finishedAt === null || task.completedAt !== null);
  for (const task of open.slice(0, limits.requeuedTasks)) {
    await requeue(tx, task, { crashes: task.crashes, reason: 'its agent was killed' });
  }
}

/** Requeues every task whose agent is dead, or is idle without an open question. Returns how many. */
export async function requeueDead(store: Store): Promise<number> {
  const dead: Task[] = [];
  for (const task of await takenTasks(store.db)) if (!(await isAtWork(store.db, task))) dead.push(task);
  for (let from = 0; from < dead.length; from += limits.requeuedTasks) {
    await store.write(async (tx) => {
      for (const known of dead.slice(from, from + limits.requeuedTasks)) {
        const task = await taskById(tx.db, known.id);
        if (task === null || task.agentId === null || (await isAtWork(tx.db, task))) continue;
        await requeue(tx, task, { crashes: task.crashes, reason: 'its agent is no longer working' });
      }
    });
  }
  return dead.length;
}

async function isAtWork(db: Database, task: Task): Promise<boolean> {
  // Finished work waits for its change, whatever happened to its agent.
  if (task.finishedAt !== null && task.completedAt === null) return true;
  const facts = task.agentId === null ? null : await agentView(db, task.agentId);
  if (facts === null || facts.agent.endedAt !== null || facts.run === null) return false;
  return facts.run.outcome === null || facts.run.questions !== null;
}

/** Tasks and all their dependencies, by id. */
export async function withDependencies(db: Database, tasks: readonly Task[]): Promise<Map<string, Task>> {
  const known = byId(tasks);
  const missing = new Set(
    tasks.flatMap((task) => [...task.dependsOn, ...task.ifFailed]).filter((id) => !known.has(id)),
  );
  for (const task of await tasksByIds(db, [...missing])) known.set(task.id, task);
  return known;
}

function byId(tasks: readonly Task[]): Map<string, Task> {
  return new Map(tasks.map((task) => [task.id, task]));
}
