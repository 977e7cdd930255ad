import { ensureOwnDirectory } from '@pawl/git/merge/own-directory';
import { hasCommit } from '@pawl/git/merge/queue-objects';
import type { Repository } from '@pawl/git/repository/repository';
import { branchTip } from '@pawl/git/repository/repository';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { queueOf } from '@pawl/store/changes/queues';
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { configPath } from './config-file.ts';
import { readLastConfig, readProjectConfig } from './project-config.ts';
import { findTarget, targetBranch } from './target.ts';

/** The parts of the daemon that reading a project's configuration needs. */
type ConfigPlatform = Pick<Platform, 'home' | 'caches' | 'repositories' | 'store'>;

/** The rules for a project's changes, as far as they are known without asking a remote. */
export type ProjectRules = {
  project: Project;
  repository: Repository;
  ownDir: string;
  config: ProjectConfig;
  /** The target branch and its commits: as the queue saw it last, and in the repository. Either may be ahead. */
  branch: string;
  tips: string[];
};

export async function projectRules(platform: Platform, project: Project): Promise<ProjectRules> {
  const { repository, ownDir, queue, config } = await readConfig(platform, project);
  const branch = await targetBranch(repository, config, queue?.branch ?? null);
  const local = await branchTip(repository, branch);
  const seen = queue?.branch === branch ? queue.seen : null;
  const isThere = seen !== null && (seen === local || (await hasCommit(repository, ownDir, seen)));
  const tips = [isThere ? seen : null, local].filter((tip) => tip !== null);
  if (tips.length > 0) return { project, repository, ownDir, config, branch, tips: [...new Set(tips)] };
  throw new PawlError('not_found', `There is no branch ${branch} in ${project.root}.`, {
    hint: 'Set the target branch: `queue: {branch: …}` in .pawl/config.yaml.',
  });
}

/**
 * Reads the rules at the target branch as it is now, asking the remote if there is one. Falls back to the last known
 * state if the remote is unreachable or slow. An unreadable configuration is an error.
 */
export async function projectRulesNow(
  platform: Platform,
  project: Project,
): Promise<Pick<ProjectRules, 'config' | 'branch'>> {
  const { repository, ownDir, config, branch } = await projectRules(platform, project);
  const finding = orTrouble(() => findTarget(repository, ownDir, config, branch));
  const target = (await Promise.race([finding, delay(limits.askRemoteMs, null, { ref: false })]))?.found ?? null;
  if (target === null) return { config, branch };
  return { config: await readProjectConfig(platform, project, repository, target.tip), branch: target.branch };
}

/**
 * Why a project's configuration cannot be read: at the target branch as the queue saw it last, and, without a remote,
 * as it is now. Null if it can be read.
 */
export async function configTrouble(platform: Platform, project: Project): Promise<string | null> {
  const queue = await queueOf(platform.store.db, project.id);
  const isAboutConfig = (text: string) => text.includes(configPath);
  const { found, trouble } = await configOf(platform, project);
  if (found === null) return isAboutConfig(trouble) ? trouble : null;
  const noted = queue?.waiting?.reason ?? '';
  if (found.remote !== null) return isAboutConfig(noted) ? noted : null;
  const now = await orTrouble(() => projectRulesNow(platform, project));
  return now.trouble !== null && isAboutConfig(now.trouble) ? now.trouble : null;
}

async function readConfig(platform: ConfigPlatform, project: Project) {
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  await ensureOwnDirectory(repository, ownDir);
  const queue = await queueOf(platform.store.db, project.id);
  const { config } = await readLastConfig(platform, project, repository, queue);
  return { repository, ownDir, queue, config };
}

/** A result, or why it is unavailable, so that a listing can still show the rest. */
export type Found<T> = { found: T; trouble: null } | { found: null; trouble: string };

export async function configOf(platform: ConfigPlatform, project: Project): Promise<Found<ProjectConfig>> {
  return orTrouble(async () => (await readConfig(platform, project)).config);
}

export async function rulesOf(platform: Platform, project: Project): Promise<Found<ProjectRules>> {
  return orTrouble(() => projectRules(platform, project));
}

async function orTrouble<T>(find: () => Promise<T>): Promise<Found<T>> {
  try {
    return { found: await find(), trouble: null };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    return { found: null, trouble: messageOf(error) };
  }
}
