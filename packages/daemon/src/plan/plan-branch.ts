import type { Landing } from '@pawl/core/agents/landing';
import { advanceBranch } from '@pawl/git/merge/advance';
import { isContained, planMerge } from '@pawl/git/merge/merge';
import { createBranchAt } from '@pawl/git/repository/branch';
import { branchTip } from '@pawl/git/repository/repository';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Initiative } from '@pawl/schema/plan/plan';
import type { Agent, Project, Task } from '@pawl/schema/record';
import { putTaskLanding, taskLandingOf } from '@pawl/store/plan/reviews';
import { projectById } from '@pawl/store/projects/projects';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { targetCommit } from '../project-config/base-commit.ts';

/** The branch of a plan: its name in letters that any branch may have, and the start of its id. */
export function planBranchName(name: string, id: string): string {
  const words =
    name
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join('-').slice(0, 40).replace(/-$/, '');
  return `plan/${slug === '' ? '' : `${slug}-`}${id.slice(0, 6)}`;
}

/** Creates the branch of a plan at the target branch, unless it exists. */
export async function createPlanBranch(platform: Platform, { projectId, branch }: Initiative): Promise<void> {
  const project = branch === null ? null : await projectById(platform.store.db, projectId);
  if (branch === null || project === null) return;
  const repository = await repositoryOf(platform, project);
  await createBranchAt(repository, { branch, commit: await targetCommit(platform, project, repository) });
}

/** The commit at which a task of a plan with a branch starts; undefined for the usual one. */
export async function planBase(
  platform: Platform,
  project: Project,
  branch: string | null,
): Promise<string | undefined> {
  if (branch === null) return undefined;
  const tip = await branchTip(await repositoryOf(platform, project), branch);
  if (tip === null)
    throw new PawlError('not_found', `The branch ${branch} of the plan is gone.`, {
      hint: 'Restore it with `git branch`, or launch the plan again.',
    });
  return tip;
}

/**
 * Merges the finished work of a task into the branch of its plan.
 *   record where it goes ─▶ move the branch ─▶ complete the task
 * After a crash the next pass finds the record, and merges nothing twice.
 */
export async function landOnBranch(
  platform: Platform,
  { project, branch }: { project: Project; branch: string },
  task: Task,
  agent: Agent,
): Promise<Landing> {
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  const tip = agent.branch === null ? null : await branchTip(repository, agent.branch);
  if (tip === null || tip === agent.baseCommit) return { do: 'complete' };
  const onto = await branchTip(repository, branch);
  if (onto === null) return { do: 'block', reason: `the branch ${branch} of its plan is gone` };
  const begun = await taskLandingOf(platform.store.db, task.id);
  if (begun !== null && (await isContained(repository, begun.to, onto).catch(() => false))) return { do: 'complete' };
  const plan = await planMerge(repository, { ownDir, tip, onto, message: `Merge ${task.name}\n` });
  if (plan.do === 'nothing') return { do: 'complete' };
  if (plan.do === 'refuse')
    return { do: 'block', reason: `its work conflicts with ${branch} in ${plan.files.join(', ')}` };
  const { commit: to } = plan;
  await platform.store.write((tx) => putTaskLanding(tx, { taskId: task.id, from: onto, to }));
  crashPoint('land.after_record');
  try {
    const moved = await advanceBranch(repository, { ownDir, branch, from: onto, to, note: `pawl: merge ${task.name}` });
    if (!moved) return { do: 'wait' };
  } catch (error) {
    if (error instanceof PawlError && error.code === 'conflict') return { do: 'block', reason: error.message };
    throw error;
  }
  crashPoint('land.after_branch');
  return { do: 'complete' };
}
