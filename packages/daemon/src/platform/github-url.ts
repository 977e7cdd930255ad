import { parseRemote, slugOf } from '@pawl/forge/github/repository-name';
import { remoteUrl } from '@pawl/git/repository/remote';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform.ts';
import { repositoryOf } from './platform.ts';

/** The remote that a project's address is read from. */
const remoteName = 'origin';

export type GithubUrls = (project: Project) => Promise<string | null>;

/**
 * Finds a project's page on GitHub from the address of its remote, without user name or password; null when there is no
 * remote, or it is elsewhere. The repository's config is read again only when that file has changed.
 */
export function createGithubUrls(platform: Platform): GithubUrls {
  const known = new Map<string, { version: string; url: string | null }>();
  return async (project) => {
    try {
      const repository = await repositoryOf(platform, project);
      const { mtimeMs, size } = statSync(join(repository.commonDir, 'config'));
      const version = `${mtimeMs}:${size}`;
      const before = known.get(project.id);
      if (before?.version === version) return before.url;
      const address = await remoteUrl(repository, remoteName);
      const found = address === null ? null : parseRemote(address, platform.environment['GH_HOST']);
      const url = found === null ? null : `https://${slugOf(found)}`;
      known.set(project.id, { version, url });
      return url;
    } catch (error) {
      // A repository that is gone, or an address that is refused: then there is nothing to name.
      if (error instanceof PawlError || (error instanceof Error && 'code' in error)) return null;
      throw error;
    }
  };
}
