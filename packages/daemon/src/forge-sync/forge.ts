import type { Forge } from '@pawl/core/port/forge';
import type { MainOnForge } from '@pawl/core/queue/forge-plan';
import { createGh } from '@pawl/forge/github/gh';
import { createGithub } from '@pawl/forge/github/github';
import type { GithubRepository } from '@pawl/forge/github/repository-name';
import { parseRemote, slugOf } from '@pawl/forge/github/repository-name';
import { remoteUrl } from '@pawl/git/repository/remote';
import type { Repository } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import type { Cache } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';

/** A project's forge, and our permissions there. */
export type ForgeLink = {
  forge: Forge;
  /** The repository that changes go to. */
  url: string;
  /** The remote that branches are pushed to; null if none, so that changes are only followed. */
  push: { url: string; fork: string | null } | null;
  /** False in a repository of others: changes are proposed and updated there, and others merge. */
  mayMerge: boolean;
  /** When to sync next. */
  nextAt: number;
  /** The last CI result of the target branch; null before it is known. */
  main: MainOnForge | null;
};

/**
 * The forge that merges a project's changes; null if we merge them here. If the forge is unreachable, nothing is
 * merged.
 */
export type MergePlace =
  | { is: 'there'; link: ForgeLink; keepsAlarm: boolean }
  | { is: 'unreachable'; name: string; reason: string; keepsAlarm: boolean }
  | null;

type Known = { link: ForgeLink; at: number };

/** Cached links to forges: permissions seldom change, and each request counts against a rate limit. */
const links: Cache<Map<string, Known>> = { empty: () => new Map() };

/** The forge of a project, or null. */
export async function forgeFor(
  platform: Platform,
  project: Project,
  repository: Repository,
  config: Pick<ProjectConfig, 'forge' | 'remote' | 'track'>,
): Promise<ForgeLink | null> {
  if (config.forge !== 'github') return null;
  const url = config.remote === null ? null : await remoteUrl(repository, config.remote);
  const there = url === null ? null : parseRemote(url, platform.environment['GH_HOST']);
  if (url === null || there === null) throw notOnGithub(config.remote, url);
  const known = platform.caches.of(links);
  const key = [project.id, slugOf(there), config.track].join('\0');
  const before = known.get(key);
  const now = platform.clock();
  if (before !== undefined && now >= before.at && now - before.at < limits.forgeLinkMs) return before.link;
  // Run outside the repository, so that nothing planted there has an effect.
  const gh = createGh({ cwd: platform.home.root, environment: platform.environment });
  const forge = createGithub({ gh, repository: there, track: config.track });
  const mayMerge = await forge.mayWrite();
  const push = mayMerge ? { url, fork: null } : await forkOf(platform, repository, there);
  const link: ForgeLink = {
    forge,
    url,
    push,
    mayMerge,
    nextAt: before?.link.nextAt ?? 0,
    main: before?.link.main ?? null,
  };
  known.set(key, { link, at: now });
  return link;
}

/** Without permission to push, branches go to `origin`, if that is another repository on the same forge: a fork. */
async function forkOf(platform: Platform, repository: Repository, there: GithubRepository): Promise<ForgeLink['push']> {
  const url = await remoteUrl(repository, 'origin');
  const fork = url === null ? null : parseRemote(url, platform.environment['GH_HOST']);
  if (url === null || fork === null || fork.host !== there.host) return null;
  return slugOf(fork).toLowerCase() === slugOf(there).toLowerCase() ? null : { url, fork: fork.owner };
}

function notOnGithub(remote: string | null, url: string | null): PawlError {
  const what = url === null ? `There is no remote ${remote ?? 'origin'}` : `The remote ${remote} is not on GitHub`;
  return new PawlError('invalid_input', `${what}, so its pull requests cannot be synced.`, {
    hint: 'Set the remote (`queue: {remote: …}`), name an enterprise server in GH_HOST, or set `queue: {forge: local}` in .pawl/config.yaml.',
  });
}
