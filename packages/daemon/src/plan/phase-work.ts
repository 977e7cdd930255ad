import { rangesOf } from '@pawl/core/plan/review';
import { diffCommits, fileAt } from '@pawl/git/repository/change-diff';
import { readCommit } from '@pawl/git/repository/commit-object';
import { readRange } from '@pawl/git/merge/replay';
import { branchTip } from '@pawl/git/repository/repository';
import { limits } from '@pawl/schema/limit';
import type { Initiative, PhaseWork } from '@pawl/schema/plan/plan';
import type { Change } from '@pawl/schema/change';
import type { Task } from '@pawl/schema/record';
import { changesOfTask } from '@pawl/store/changes/changes';
import { taskLandingOf } from '@pawl/store/plan/reviews';
import { createHash } from 'node:crypto';
import type { Platform } from '../platform/platform.ts';
import type { ProjectRules } from '../project-config/project-rules.ts';

/**
 * The commits by which the work of some tasks came to main, or to the branch of their plan. They are kept from before
 * later work, so a diff of them stays the same.
 */
export async function workOf(platform: Platform, rules: ProjectRules, tasks: readonly Task[]): Promise<PhaseWork[]> {
  const { db } = platform.store;
  const works: PhaseWork[] = [];
  for (const task of tasks) {
    const landing = task.completedAt === null ? null : await taskLandingOf(db, task.id);
    if (landing !== null) works.push(landing);
    for (const change of await changesOfTask(db, task.id)) {
      if (change.mergedCommit === null) continue;
      works.push({ taskId: task.id, from: await beforeMerge(rules, change), to: change.mergedCommit });
    }
  }
  return works;
}

/** The commit of the target branch before a change was merged. */
export async function beforeMerge({ repository, ownDir, config }: ProjectRules, change: Change): Promise<string> {
  let commit = change.mergedCommit ?? change.head;
  const isReplayed = config.method === 'rebase';
  const range = { ownDir, head: change.head, onto: change.base, landed: [] };
  const steps = isReplayed ? (await readRange(repository, range)).commits.length : 1;
  for (let step = 0; step < Math.max(1, steps); step += 1) {
    const { parents } = await readCommit(repository, ownDir, commit);
    commit = parents[0] ?? commit;
  }
  return commit;
}

/** Identifies the work that a person looked at. */
export function workHash(works: readonly PhaseWork[]): string {
  const lines = works.map(({ taskId, from, to }) => `${taskId} ${from} ${to}`).toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

export type WorkDiff = Awaited<ReturnType<typeof diffCommits>>;

/** The diff of some work; works that follow each other are shown as one. */
export async function diffWork({ repository, ownDir }: ProjectRules, works: readonly PhaseWork[]): Promise<WorkDiff> {
  const diff: WorkDiff = { files: [], patch: '', truncated: false };
  for (const range of rangesOf(works)) {
    const { files, patch, truncated } = await diffCommits(repository, { ownDir, ...range });
    diff.files.push(...files);
    diff.patch += patch;
    diff.truncated ||= truncated;
  }
  return diff;
}

/** Reads files of the branch that has the work of a plan: its own, or the target branch. */
export async function fileReader(
  { repository, ownDir, tips }: ProjectRules,
  { branch }: Pick<Initiative, 'branch'>,
): Promise<(path: string) => Promise<string | null>> {
  const own = branch === null ? null : await branchTip(repository, branch);
  const tip = own ?? tips[0];
  return async (path) => {
    const found = tip === undefined ? null : await fileAt(repository, ownDir, tip, path, limits.planFileBytes);
    return found?.is === 'file' ? found.content.toString('utf8') : null;
  };
}
