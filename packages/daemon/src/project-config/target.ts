import { branchTip } from '@pawl/git/repository/repository';
import type { Repository } from '@pawl/git/repository/repository';
import { defaultBranch, fetchBranch, remoteUrl } from '@pawl/git/repository/remote';
import { PawlError } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';

/** The target branch of a queue, and its current commit. */
export type Target = {
  branch: string;
  tip: string;
  /** The remote with the authoritative branch; null if that is in the person's own repository. */
  remote: { name: string; url: string } | null;
};

/** The target branch of a project's queue; `chosen` is the current one. */
export async function targetBranch(
  repository: Repository,
  config: Pick<ProjectConfig, 'branch'>,
  chosen: string | null = null,
): Promise<string> {
  return config.branch ?? (await defaultBranch(repository, chosen));
}

/** Looks up the target branch: at the remote if there is one, else in the repository. */
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
      hint: 'Set the target branch: `queue: {branch: …}` in .pawl/config.yaml.',
    });
  }
  const tip = await fetchBranch(repository, { ownDir, url, branch });
  if (tip !== null) return { branch, tip, remote: { name: config.remote, url } };
  throw new PawlError('not_found', `${config.remote} has no branch ${branch}.`, {
    hint: `Push it first: git push ${config.remote} ${branch}; or set \`queue: {remote: none}\` in .pawl/config.yaml.`,
  });
}
