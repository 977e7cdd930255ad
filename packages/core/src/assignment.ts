import type { Run, Task } from '@pawl/schema/record';
import { isMailTask } from './prompt/turn-task.ts';

/**
 * The work that an agent was given: its planned task, else the task of its first run. Later runs are turns of the same
 * work. Null for an agent that was given none, such as one that only mail has woken.
 */
export function assignmentOf(facts: {
  planned: Pick<Task, 'name'> | null;
  firstRun: Pick<Run, 'task'> | null;
}): string | null {
  const { planned, firstRun } = facts;
  if (planned !== null) return planned.name;
  return firstRun === null || isMailTask(firstRun.task) ? null : firstRun.task;
}
