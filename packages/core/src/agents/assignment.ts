import type { Agent, Run, Task } from '@pawl/schema/record';

/** The assignment of a new agent: the name of its planned task, else its first prompt. Null if it has neither. */
export function firstAssignment(task: string | null, planned: Pick<Task, 'name'> | null): string | null {
  if (planned !== null) return planned.name;
  return task === null || task.trim() === '' ? null : task;
}

/**
 * The assignment of an agent after a person's prompt. A prompt to an agent with finished work is a new assignment;
 * before that it is about the current one. Finished: the last run completed without questions and no change is waiting
 * to be merged. Errands, planned tasks and persistent agents keep theirs.
 */
export function assignmentAfter(
  agent: Pick<Agent, 'assignment' | 'class' | 'mode' | 'taskId'>,
  run: Pick<Run, 'outcome' | 'questions'> | null,
  told: { prompt: string; hasOpenChange: boolean },
): string | null {
  if (agent.class === 'persistent' || agent.mode === 'errand' || agent.taskId !== null) return agent.assignment;
  if (agent.assignment === null) return told.prompt;
  const isFinished = run?.outcome === 'completed' && run.questions === null && !told.hasOpenChange;
  return isFinished ? told.prompt : agent.assignment;
}
