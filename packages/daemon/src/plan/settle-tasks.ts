import type { Landing } from '@pawl/core/agents/landing';
import { isAuthor, judgeLanding } from '@pawl/core/agents/landing';
import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project, Task } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { changesOfTask } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import { finishedTasks, taskById } from '@pawl/store/projects/tasks';
import { planBranchOf } from '@pawl/store/plan/initiatives';
import { landOnBranch } from './plan-branch.ts';
import { recordLanding } from '../tasks/tasks.ts';
import type { Platform } from '../platform/platform.ts';
import { settledRuns } from '../changes/settled.ts';

/**
 * Completes the planned tasks of a project whose change has landed, or that had nothing to propose, and blocks those
 * whose change was closed. Derives everything from facts, so after a crash the next pass does it. `config` is null for
 * a project without checks.
 */
export async function settleTasks(platform: Platform, project: Project, config: ProjectConfig | null): Promise<void> {
  for (const task of await finishedTasks(platform.store.db, project.id)) {
    const landing = await landingOf(platform, project, config, task);
    if (landing.do === 'wait') continue;
    await platform.store.write(async (tx) => {
      const now = await taskById(tx.db, task.id);
      if (now === null || now.completedAt !== null || now.finishedAt !== task.finishedAt) return;
      await recordLanding(tx, now, landing);
    });
    crashPoint('landing.after_record');
  }
}

async function landingOf(
  platform: Platform,
  project: Project,
  config: ProjectConfig | null,
  task: Task,
): Promise<Landing> {
  const { db } = platform.store;
  const facts = task.agentId === null ? null : await agentView(db, task.agentId);
  const queue = await queueOf(db, project.id);
  const run = facts?.run ?? null;
  const branch = await planBranchOf(db, task.id);
  if (branch !== null && facts !== null) {
    if (run !== null && run.outcome === null) return { do: 'wait' };
    if (run !== null && run.outcome !== 'completed')
      return { do: 'requeue', reason: run.detail ?? 'its agent did not complete' };
    return landOnBranch(platform, { project, branch }, task, facts.agent);
  }
  // Work that ended before the queue started is never proposed automatically.
  const isEarly = queue === null || (run?.endedAt ?? 0) < queue.beganAt - limits.finishedMs;
  return judgeLanding({
    agent: facts?.agent ?? null,
    run,
    changes: await changesOfTask(db, task.id),
    lands: config !== null && config.source !== 'none' && config.enabled,
    isSettled:
      facts === null || !isAuthor(facts.agent) || isEarly || settledRuns(platform, project.id).has(run?.id ?? ''),
  });
}
