import { judgeCleanUp } from '@pawl/core/agents/clean-up';
import { isOver } from '@pawl/core/changes/change-life';
import { trashWorktree } from '@pawl/git/trash/trash';
import { worktreeWork } from '@pawl/git/worktree/worktree-work';
import { processesIn } from '@pawl/host/process/process-directory';
import type { WorktreeView } from '@pawl/protocol/agents/worktrees/view';
import { messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { changeById } from '@pawl/store/changes/changes';
import { projectById } from '@pawl/store/projects/projects';
import { existsSync } from 'node:fs';
import type { FixRecord } from './fix-record.ts';
import { changeFixes, fixWorktrees } from './fix-record.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../../platform/platform.ts';

/** The worktrees created by `pawl change fix`, for a listing. */
export async function listFixWorktrees(platform: Platform, projects: Map<string, Project>): Promise<WorktreeView[]> {
  const records = (await fixWorktrees(platform.store.db)).filter(({ path }) => existsSync(path));
  return records.map(({ path, projectId, branch, changeId, at }) => ({
    state: 'retained',
    path,
    project: projects.get(projectId)?.name ?? null,
    agent: null,
    branch,
    detail: `made to resolve the conflict of change ${changeId.slice(0, 8)}`,
    entry: null,
    at,
  }));
}

/**
 * Moves worktrees of merged or closed changes to the trash if they are clean; with `force`, also with uncommitted
 * files.
 */
export async function trashFixWorktrees(
  platform: Platform,
  { force, dryRun }: { force: boolean; dryRun: boolean },
): Promise<string[]> {
  const trashed: string[] = [];
  for (const record of await fixWorktrees(platform.store.db)) {
    try {
      if (await trashOne(platform, record, { force, dryRun })) trashed.push(record.path);
    } catch (error) {
      platform.log.warn({ path: record.path, error: messageOf(error) }, 'failed to prune a worktree');
    }
  }
  return trashed;
}

async function trashOne(
  platform: Platform,
  { changeId, projectId, path, branch, head }: FixRecord,
  { force, dryRun }: { force: boolean; dryRun: boolean },
): Promise<boolean> {
  const { db } = platform.store;
  const [change, project] = [await changeById(db, changeId), await projectById(db, projectId)];
  if (project === null || (change !== null && !isOver(change))) return false;
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, projectId);
  const work = await worktreeWork(repository, { ownDir, path, branch, base: head });
  const state = force && work.state === 'dirty' ? 'unpushed' : work.state;
  const verdict = judgeCleanUp({ ...work, state, processes: processesIn(path).length });
  if (verdict.do === 'retain' || dryRun) return verdict.do === 'trash';
  const dirty = work.changed + work.untracked;
  if (verdict.do === 'trash')
    await trashWorktree(repository, { path, branch, trashDir: platform.home.trash, at: Date.now(), dirty });
  await platform.store.write((tx) => changeFixes.delete(tx, { changeId }));
  return verdict.do === 'trash';
}
