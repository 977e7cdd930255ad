import { branchTip } from '@pawl/git/repository/repository';
import type { Repository } from '@pawl/git/repository/repository';
import { defaultBranch, fetchBranch, remoteUrl } from '@pawl/git/repository/remote';
import { PawlError } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';

/** The branch that a queue moves, and where it is now. */
export type Target = {
  branch: string;
  tip: string;
  /** Where the real one is; null when that is the person's own repository. */
  remote: { name: string; url: string } | null;
};

/** The branch that a project's queue moves; `chosen` is the one that it moved so far. */
export async function targetBranch(
  repository: Repository,
  config: Pick<ProjectConfig, 'branch'>,
  chosen: string | null = null,
): Promise<string> {
  return config.branch ?? (await defaultBranch(repository, chosen));
}

/** Looks where the target branch is now: at the remote when there is one, else in the repository. */
export async function findTarget(
  repository: Repository,
  ownDir: string,
  config: Pick<ProjectConfig, 'branch' | 'remote'>,
  chosen: string | null,
): Promise<Target> {
  const branch = await targetBranch(repository, config, chosen);
  const url = config.remote === null ? null : await remoteUrl(repository, config.remote);
  if (config.remote === null || url === null) {
    const tip = await branchTip(repository, branch);
    if (tip !== null) return { branch, tip, remote: null };
    throw new PawlError('not_found', `There is no branch ${branch}.`, {
      hint: 'Name the one that changes go to: `queue: {branch: …}` in .pawl/config.yaml.',
    });
  }
  const tip = await fetchBranch(repository, { ownDir, url, branch });
  if (tip !== null) return { branch, tip, remote: { name: config.remote, url } };
  throw new PawlError('not_found', `${config.remote} has no branch ${branch}.`, {
    hint: `Push it first: git push ${config.remote} ${branch}; or say \`queue: {remote: none}\` in .pawl/config.yaml.`,
  });
}
