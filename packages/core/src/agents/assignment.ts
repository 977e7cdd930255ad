import type { Agent, Run, Task } from '@pawl/schema/record';

/** The work that a new agent is given: the name of its planned task, else what it is told first. Null for none yet. */
export function firstAssignment(task: string | null, planned: Pick<Task, 'name'> | null): string | null {
  if (planned !== null) return planned.name;
  return task === null || task.trim() === '' ? null : task;
}

/**
 * The assignment of an agent after a person has told it something. Words to an agent whose work is finished are new work;
 * before that they are about the work it has. Finished means that its last run completed without a question, and that
 * nothing of it is waiting to be merged. An errand, a planned task and an agent that stays keep what they were made for.
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
