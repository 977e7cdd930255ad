import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { RunCause, Task, taskStates } from '@pawl/schema/record';

export type TaskState = (typeof taskStates)[number];

/** What a task's facts say about it now, and why. */
export type TaskReading = { state: TaskState; detail: string };

/** Other tasks by their ids: at least those that the task in question waits for. */
export type TasksById = ReadonlyMap<string, Task>;

/** Words that mean some task where one is to be named. */
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
      if (other === undefined) return `${id}, which is not there`;
      return other.finishedAt === null ? other.name : `${other.name} (in review)`;
    });
    return { state: 'blocked', detail: `waits for ${named.join(', ')}` };
  }
  if (task.finishedAt !== null) return { state: 'in_review', detail: 'its work is being proposed' };
  return task.agentId === null ? { state: 'pending', detail: '' } : { state: 'in_progress', detail: '' };
}

/** The tasks that may be taken up now, in the order in which they were added. */
export function pendingTasks(inOrder: readonly Task[], tasks: TasksById): Task[] {
  return inOrder.filter((task) => taskState(task, tasks).state === 'pending');
}

/** A name by which two tasks count as the same: without regard to case, and to spaces around and between words. */
export function normalisedName(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** The open task of the same phase that already says this, if there is one. */
export function sameTask(open: readonly Task[], wanted: { phase: string; name: string }): Task | null {
  const name = normalisedName(wanted.name);
  const isSame = (task: Task) => task.phase === wanted.phase && normalisedName(task.name) === name;
  return open.find((task) => task.completedAt === null && isSame(task)) ?? null;
}

/** Refuses a task whose words or whose dependencies cannot be. */
export function checkTaskPlan(task: Pick<Task, 'id' | 'name' | 'phase' | 'description' | 'dependsOn'>): void {
  checkWords('name', task.name, limits.taskNameCharacters);
  if (normalisedName(task.name) === '') {
    throw new PawlError('invalid_input', 'The task has no name.', {
      hint: 'Say in a few words what to do: pawl task add "fix the login"',
    });
  }
  if (reservedNames.includes(normalisedName(task.name))) {
    throw new PawlError('invalid_input', `The name ${task.name} has a meaning of its own.`, {
      hint: 'Choose another one.',
    });
  }
  checkWords('phase', task.phase, limits.taskPhaseCharacters);
  const bytes = new TextEncoder().encode(task.description).length;
  if (bytes > limits.taskBytes) throw tooLong('description', `${limits.taskBytes} bytes`);
  if (task.description.includes('\0'))
    throw new PawlError('invalid_input', 'The description contains a NUL character.');
  if (task.dependsOn.length > limits.taskDependencies) {
    throw new PawlError('too_large', `A task waits for at most ${limits.taskDependencies} others.`, {
      hint: 'Put a task in between that waits for some of them.',
    });
  }
}

/** Refuses dependencies that lead back to the task itself: it could never be taken up. */
export function refuseCycle(task: Pick<Task, 'id' | 'name' | 'dependsOn'>, tasks: TasksById): void {
  const seen = new Set<string>();
  const open = [...task.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === task.id) {
      throw new PawlError('conflict', `The task ${JSON.stringify(task.name)} would wait for itself.`, {
        hint: 'Leave out the dependency that leads back to it.',
      });
    }
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(tasks.get(id)?.dependsOn ?? []));
  }
}

/** What an agent is told to do for a task: its words, and what came of the tasks before it. */
export function taskText(task: Task, dependencies: readonly Task[]): string {
  const parts = [task.name];
  if (task.description.trim() !== '') parts.push(task.description.trim());
  for (const { name, summary } of dependencies) {
    if (summary !== null && summary.trim() !== '') parts.push(`What came of "${name}":\n${summary.trim()}`);
  }
  return parts.join('\n\n');
}

/** What becomes of a task when the run of the agent that has it ends. */
export type TaskEnd =
  /** The agent waits for an answer, or somebody else has the task by now. */
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

/** Reads from a run's end what becomes of its agent's task. The result message becomes the summary. */
export function taskEnd(task: Task, agentId: string, run: EndedRun): TaskEnd {
  const isFree = task.agentId === null && task.completedAt === null;
  const hasIt = task.agentId === agentId;
  if (run.outcome === 'completed' && run.questions === null && (hasIt || isFree)) {
    return { do: 'complete', summary: task.summary ?? run.detail };
  }
  if (!hasIt || run.questions !== null) return { do: 'keep' };
  // Finished work waits for its change; how a later turn ends does not matter.
  if (task.finishedAt !== null && task.completedAt === null) return { do: 'keep' };
  if (task.completedAt !== null) return { do: 'complete', summary: task.summary };
  const reason = run.detail ?? run.outcome;
  // A passed budget and a usage limit say nothing about the task.
  const isCrash = run.outcome === 'failed' && run.cause === undefined;
  if (!isCrash) return { do: 'requeue', crashes: task.crashes, reason };
  const crashes = task.crashes + 1;
  return crashes < limits.taskCrashes
    ? { do: 'requeue', crashes, reason }
    : { do: 'block', crashes, reason: `its agents crashed ${crashes} times, the last one so: ${reason}` };
}

function checkWords(what: string, text: string, characters: number): void {
  if (text.length > characters) throw tooLong(what, `${characters} characters`);
  // oxlint-disable-next-line no-control-regex -- control characters are what this refuses
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new PawlError('invalid_input', `The ${what} of a task is one line of plain text.`, {
      hint: 'Put what needs more into the description.',
    });
  }
}

function tooLong(what: string, limit: string): PawlError {
  return new PawlError('too_large', `The ${what} of a task has at most ${limit}.`, {
    hint: 'Put the material into a file of the repository and name that file.',
  });
}
