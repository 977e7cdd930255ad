import { assignmentOf } from '@pawl/core/assignment';
import type { Agent } from '@pawl/schema/record';
import { runsOf } from '@pawl/store/runs';
import type { Database } from '@pawl/store/tables';
import { taskById } from '@pawl/store/tasks';

/** The work that an agent was given, or null. */
export async function assignmentOfAgent(db: Database, agent: Pick<Agent, 'id' | 'taskId'>): Promise<string | null> {
  const planned = agent.taskId === null ? null : await taskById(db, agent.taskId);
  const [firstRun = null] = await runsOf(db, agent.id);
  return assignmentOf({ planned, firstRun });
}
