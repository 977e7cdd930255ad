import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { RunCause, Task, taskStates } from '@pawl/schema/record';

export type TaskState = (typeof taskStates)[number];

/** A task's derived state, and why. */
export type TaskReading = { state: TaskState; detail: string };

/** Tasks by id: at least those that the task in question depends on. */
export type TasksById = ReadonlyMap<string, Task>;

/** Words that stand for a task, so they cannot be names. */
const reservedNames = ['next'];

/**
 * The one function that reads a task's state from facts; none is stored.
 *
 *   added ─▶ blocked (on a reason, or on tasks that are not completed) ─▶ pending ─▶ in_progress ─▶ in_review ─▶ completed
 *                                                                           ▲            │             │   its change landed
 *                                                                           └─ requeued ─┘             └─▶ blocked: it was closed
 */
export function taskState(task: Task, tasks: TasksById): TaskReading {
  if (task.completedAt !== null) return { state: 'completed', detail: '' };
  if (task.blockedReason !== null) return { state: 'blocked', detail: task.blockedReason };
  const awaited = task.dependsOn.filter((id) => (tasks.get(id)?.completedAt ?? null) === null);
  if (awaited.length > 0) {
    const named = awaited.map((id) => {
      const other = tasks.get(id);
      if (other === undefined) return `${id}, which does not exist`;
      return other.finishedAt === null ? other.name : `${other.name} (in review)`;
    });
    return { state: 'blocked', detail: `waits for ${named.join(', ')}` };
  }
  if (task.finishedAt !== null) return { state: 'in_review', detail: 'its work is being proposed' };
  return task.agentId === null ? { state: 'pending', detail: '' } : { state: 'in_progress', detail: '' };
}

/** The tasks that can be started now, in the order added. */
export function pendingTasks(inOrder: readonly Task[], tasks: TasksById): Task[] {
  return inOrder.filter((task) => taskState(task, tasks).state === 'pending');
}

/** Normalises a task name for comparison: case and whitespace do not matter. */
export function normalisedName(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** The open task of the same phase with the same name, if any. */
export function sameTask(open: readonly Task[], wanted: { phase: string; name: string }): Task | null {
  const name = normalisedName(wanted.name);
  const isSame = (task: Task) => task.phase === wanted.phase && normalisedName(task.name) === name;
  return open.find((task) => task.completedAt === null && isSame(task)) ?? null;
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

/** What happens to a task when its agent's run ends. */
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
