import { parseRemote, slugOf } from '@pawl/forge/github/repository-name';
import { remoteUrl } from '@pawl/git/repository/remote';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform.ts';
import { repositoryOf } from './platform.ts';

const remoteName = 'origin';

export type GithubUrls = (project: Project) => Promise<string | null>;

/**
 * Derives a project's GitHub page from the URL of its remote, without credentials; null if there is no remote or it is
 * not on GitHub. Reads the repository's config again only when the file has changed.
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
      // The repository is gone, or its URL was refused: there is no page.
      if (error instanceof PawlError || (error instanceof Error && 'code' in error)) return null;
      throw error;
    }
  };
}
