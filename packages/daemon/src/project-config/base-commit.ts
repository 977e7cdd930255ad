import { unpushedBase } from '@pawl/core/changes/diverged';
import { hasRemoteBranches } from '@pawl/git/repository/branch-tips';
import { checkBranchName } from '@pawl/git/repository/branch-name';
import { branchTip, commitAt, resolveCommit } from '@pawl/git/repository/repository';
import type { Repository } from '@pawl/git/repository/repository';
import { isInside } from '@pawl/roster/roster';
import { PawlError } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Agent, Project, WorkMode } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/changes/queues';
import { unpushedOf } from './unpushed.ts';
import { readProjectConfig } from './project-config.ts';
import { targetBranch } from './target.ts';
import type { Platform } from '../platform/platform.ts';
import { repositoryOf } from '../platform/platform.ts';

/**
 * Chooses where work starts: at the requested commit; else, in a linked worktree of the person's, at its HEAD; else at
 * the remote-tracking target branch, since the work is merged there; else at HEAD. An errand is merged back into the
 * person's checkout, so it starts there.
 */
export async function baseCommitFor(
  platform: Platform,
  project: Project,
  repository: Repository,
  { base, mode }: { base: string | undefined; mode: WorkMode },
): Promise<string> {
  if (base !== undefined || mode === 'errand' || isOwnWorktree(platform, repository))
    return resolveCommit(repository, base);
  return (await remoteTarget(platform, project, repository)) ?? resolveCommit(repository);
}

/** True for a linked worktree that the person made; work from an agent's worktree starts where all other work does. */
function isOwnWorktree({ home }: Platform, { gitDir, commonDir, top }: Repository): boolean {
  return gitDir !== commonDir && !isInside(top, home.worktrees);
}

/** The commit of the target branch: the remote-tracking one, else the local one, else HEAD. */
export async function targetCommit(platform: Platform, project: Project, repository: Repository): Promise<string> {
  const remote = await remoteTarget(platform, project, repository);
  if (remote !== null) return remote;
  const queue = await queueOf(platform.store.db, project.id);
  try {
    const config = await configOrDefault(platform, project, repository, queue?.seen ?? null);
    const tip = await branchTip(repository, queue?.branch ?? (await targetBranch(repository, config)));
    if (tip !== null) return tip;
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
  }
  return resolveCommit(repository);
}

/** Notes that an agent starts at the remote's target branch without commits that only the local one has, or null. */
export async function baseNoteFor(
  platform: Platform,
  project: Project,
  { baseCommit }: Pick<Agent, 'baseCommit'>,
): Promise<string | null> {
  if (baseCommit === null) return null;
  if ((await remoteTarget(platform, project, await repositoryOf(platform, project))) !== baseCommit) return null;
  const unpushed = await unpushedOf(platform, project, baseCommit);
  return unpushed === null ? null : unpushedBase(unpushed);
}

async function remoteTarget(platform: Platform, project: Project, repository: Repository): Promise<string | null> {
  if (!(await hasRemoteBranches(repository))) return null;
  const queue = await queueOf(platform.store.db, project.id);
  try {
    const config = await configOrDefault(platform, project, repository, queue?.seen ?? null);
    if (config.remote === null) return null;
    const branch = queue?.branch ?? (await targetBranch(repository, config));
    return await commitAt(repository, `refs/remotes/${checkBranchName(`${config.remote}/${branch}`)}`);
  } catch (error) {
    // There is no such branch, or git rejects its name.
    if (error instanceof PawlError) return null;
    throw error;
  }
}

/** A broken config stops the queue, but not new work: an agent may be needed to fix it. */
async function configOrDefault(
  platform: Platform,
  project: Project,
  repository: Repository,
  commit: string | null,
): Promise<Pick<ProjectConfig, 'remote' | 'branch'>> {
  try {
    return await readProjectConfig(platform, project, repository, commit);
  } catch (error) {
    if (error instanceof PawlError) return { remote: 'origin', branch: null };
    throw error;
  }
}
