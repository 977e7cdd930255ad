import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { RunCause, Task, taskStates } from '@pawl/schema/record';
import { taskPriorities } from '@pawl/schema/record';

export type TaskState = (typeof taskStates)[number];

/** A task's derived state, and why. */
export type TaskReading = { state: TaskState; detail: string };

/** Tasks by id: at least those that the task in question depends on. */
export type TasksById = ReadonlyMap<string, Task>;

/** Words that stand for a task, so they cannot be names. */
const reservedNames = ['next'];

/**
 * The one function that reads a task's state from facts; none is stored. `gate` says why its initiative does not let it
 * start, if it has one (`readPlan`).
 *
 *   added ─▶ blocked (on a reason, or on what it waits for) ─▶ pending ─▶ in_progress ─▶ in_review ─▶ completed
 *                                                                ▲            │             │   its change landed
 *     skipped: nothing failed                                    └─ requeued ─┘             └─▶ blocked: it was closed
 *     cancelled: a person removed it
 */
export function taskState(task: Task, tasks: TasksById, gate: TaskReading | null = null): TaskReading {
  if (task.completedAt !== null) return { state: 'completed', detail: '' };
  if (task.cancelledAt !== null) return { state: 'cancelled', detail: '' };
  if (task.blockedReason !== null) return { state: 'blocked', detail: task.blockedReason };
  if (isSkipped(task, tasks)) {
    const names = task.ifFailed.map((id) => tasks.get(id)?.name ?? id).join(', ');
    return { state: 'skipped', detail: `it runs only if ${names} fails` };
  }
  const awaited = task.dependsOn.filter((id) => !isSettled(tasks.get(id), tasks));
  const named = awaited.map((id) => awaitedName(id, tasks.get(id)));
  if (task.ifFailed.length > 0 && !task.ifFailed.some((id) => (tasks.get(id)?.failedAt ?? null) !== null))
    named.push(`a failure of ${task.ifFailed.map((id) => tasks.get(id)?.name ?? id).join(' or ')}`);
  if (named.length > 0) return { state: 'blocked', detail: `waits for ${named.join(', ')}` };
  if (task.finishedAt !== null) return { state: 'in_review', detail: 'its work is being proposed' };
  if (task.agentId !== null) return { state: 'in_progress', detail: '' };
  return gate ?? { state: 'pending', detail: '' };
}

function awaitedName(id: string, other: Task | undefined): string {
  if (other === undefined) return `${id}, which does not exist`;
  if (other.failedAt !== null) return `${other.name} (failed)`;
  return other.finishedAt === null ? other.name : `${other.name} (in review)`;
}

/** True if nothing more happens to a task: those after it need not wait. */
export function isSettled(task: Task | undefined, tasks: TasksById): boolean {
  if (task === undefined) return false;
  return task.completedAt !== null || task.cancelledAt !== null || isSkipped(task, tasks);
}

/** True for a task that runs only if others fail, none of which did. */
function isSkipped(task: Task, tasks: TasksById): boolean {
  if (task.ifFailed.length === 0 || task.agentId !== null) return false;
  // Each step follows `ifFailed` back to a task without it; `stage` refuses a cycle, and the count ends one here.
  const done = (id: string, depth: number): boolean => {
    const other = tasks.get(id);
    if (other === undefined || other.failedAt !== null || depth > limits.taskDependencies) return false;
    if (other.completedAt !== null || other.cancelledAt !== null) return true;
    return other.ifFailed.length > 0 && other.agentId === null && other.ifFailed.every((each) => done(each, depth + 1));
  };
  return task.ifFailed.every((id) => done(id, 1));
}

/** The tasks that can be started now, in their order. `gates` are those of tasks in initiatives. */
export function pendingTasks(
  all: readonly Task[],
  tasks: TasksById,
  gates: ReadonlyMap<string, TaskReading> = new Map(),
): Task[] {
  const isFree = (task: Task) => mayStart(gates.get(task.id) ?? taskState(task, tasks));
  return all.filter(isFree).toSorted(compareTasks);
}

/** The cause of a task of an initiative that nothing holds back. */
export const startsNext = 'it starts next';

/** True for a task that an agent may take now. */
export function mayStart({ state, detail }: TaskReading): boolean {
  return state === 'pending' && (detail === '' || detail === startsNext);
}

/** The order in which tasks start: priority, age, id. */
export function compareTasks(one: Task, other: Task): number {
  const urgency = taskPriorities.indexOf(one.priority) - taskPriorities.indexOf(other.priority);
  if (urgency !== 0) return urgency;
  if (one.createdAt !== other.createdAt) return one.createdAt - other.createdAt;
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}

/** Normalises a task name for comparison: case and whitespace do not matter. */
export function normalisedName(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** The open task of the same initiative and phase with the same name, if any. */
export function sameTask(
  open: readonly Task[],
  wanted: Pick<Task, 'phase' | 'name'> & Partial<Pick<Task, 'initiativeId'>>,
): Task | null {
  const name = normalisedName(wanted.name);
  const isSame = (task: Task) =>
    task.phase === wanted.phase &&
    task.initiativeId === (wanted.initiativeId ?? null) &&
    normalisedName(task.name) === name;
  return open.find((task) => task.completedAt === null && task.cancelledAt === null && isSame(task)) ?? null;
}

/** Validates a task's texts and dependencies. */
export function checkTaskPlan(task: Pick<Task, 'id' | 'name' | 'phase' | 'description' | 'dependsOn'>): void {
  checkWords('name', task.name, limits.taskNameCharacters);
  if (normalisedName(task.name) === '') {
    throw new PawlError('invalid_input', 'The task has no name.', {
      hint: 'Say in a few words what to do: pawl task add "fix the login"',
    });
  }
  if (reservedNames.includes(normalisedName(task.name))) {
    throw new PawlError('invalid_input', `The name ${task.name} is reserved.`, {
      hint: 'Choose another one.',
    });
  }
  checkWords('phase', task.phase, limits.taskPhaseCharacters);
  const bytes = new TextEncoder().encode(task.description).length;
  if (bytes > limits.taskBytes) throw tooLong('description', `${limits.taskBytes} bytes`);
  if (task.description.includes('\0'))
    throw new PawlError('invalid_input', 'The description contains a NUL character.');
  if (task.dependsOn.length > limits.taskDependencies) {
    throw new PawlError('too_large', `A task may depend on at most ${limits.taskDependencies} others.`, {
      hint: 'Add an intermediate task that depends on some of them.',
    });
  }
}

/** Refuses circular dependencies. */
export function refuseCycle(task: Pick<Task, 'id' | 'name' | 'dependsOn'>, tasks: TasksById): void {
  const seen = new Set<string>();
  const open = [...task.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === task.id) {
      throw new PawlError('conflict', `The task ${JSON.stringify(task.name)} would depend on itself.`, {
        hint: 'Remove the dependency that leads back to it.',
      });
    }
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(tasks.get(id)?.dependsOn ?? []));
  }
}

/** The prompt for a task: its text, and the results of its dependencies. */
export function taskText(task: Task, dependencies: readonly Task[]): string {
  const parts = [task.name];
  if (task.description.trim() !== '') parts.push(task.description.trim());
  for (const { name, summary } of dependencies) {
    if (summary !== null && summary.trim() !== '') parts.push(`What came of "${name}":\n${summary.trim()}`);
  }
  return parts.join('\n\n');
}

/** Decides what a task becomes when its agent's run ends. */
export type TaskEnd =
  /** The agent waits for an answer, or another agent has the task by now. */
  | { do: 'keep' }
  | { do: 'complete'; summary: string | null }
  | { do: 'requeue'; crashes: number; reason: string }
  | { do: 'block'; crashes: number; reason: string };

export type EndedRun = {
  outcome: 'completed' | 'failed' | 'cancelled';
  detail: string | null;
  questions: readonly unknown[] | null;
  cause?: RunCause | undefined;
};

/** Decides what happens to a task when its agent's run ends. The result message becomes the summary. */
export function taskEnd(task: Task, agentId: string, run: EndedRun): TaskEnd {
  const isFree = task.agentId === null && task.completedAt === null;
  const hasIt = task.agentId === agentId;
  if (run.outcome === 'completed' && run.questions === null && (hasIt || isFree)) {
    return { do: 'complete', summary: task.summary ?? run.detail };
  }
  if (!hasIt || run.questions !== null) return { do: 'keep' };
  // Finished work waits for its change; later turns do not matter.
  if (task.finishedAt !== null && task.completedAt === null) return { do: 'keep' };
  if (task.completedAt !== null) return { do: 'complete', summary: task.summary };
  const reason = run.detail ?? run.outcome;
  // An exceeded budget or a usage limit says nothing about the task.
  const isCrash = run.outcome === 'failed' && run.cause === undefined;
  if (!isCrash) return { do: 'requeue', crashes: task.crashes, reason };
  const crashes = task.crashes + 1;
  return crashes < limits.taskCrashes
    ? { do: 'requeue', crashes, reason }
    : { do: 'block', crashes, reason: `its agents crashed ${crashes} times, last with: ${reason}` };
}

function checkWords(what: string, text: string, characters: number): void {
  if (text.length > characters) throw tooLong(what, `${characters} characters`);
  // oxlint-disable-next-line no-control-regex -- control characters are what this refuses
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new PawlError('invalid_input', `The ${what} of a task must be one line of plain text.`, {
      hint: 'Put the rest into the description.',
    });
  }
}

function tooLong(what: string, limit: string): PawlError {
  return new PawlError('too_large', `The ${what} of a task may have at most ${limit}.`, {
    hint: 'Put the material into a file of the repository and name that file.',
  });
}
