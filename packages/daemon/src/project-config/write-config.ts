import { gateLimits } from '@pawl/core/guard/gate-limit';
import { fileAt } from '@pawl/git/repository/change-diff';
import { defaultBranch } from '@pawl/git/repository/remote';
import type { Repository } from '@pawl/git/repository/repository';
import { branchTip, openRepository } from '@pawl/git/repository/repository';
import type { ChecksFound } from '@pawl/protocol/projects/view';
import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory } from '../platform/platform.ts';
import { configPath } from './config-file.ts';
import type { FoundCheck } from './detect-checks.ts';
import { detectChecks, needsNetwork } from './detect-checks.ts';

/**
 * Detects a project's checks and writes them to a config file in its checkout. Keeps an existing config, in the
 * checkout or in the target branch. Writes nothing if nothing is found: an empty file would only hide that there are no
 * checks.
 */
export async function proposeConfig(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  { autoMerge }: { autoMerge: boolean },
): Promise<ChecksFound> {
  const repository = await openRepository(project.root);
  // A bare repository has no checkout: its file exists only in commits.
  const file = repository.bare ? configPath : join(repository.root, configPath);
  const found = repository.bare ? [] : await detectChecks(repository.root);
  const told = (outcome: ChecksFound['outcome'], reason: string | null = null) => ({ file, found, outcome, reason });
  if (await isConfigured(platform, project, repository)) return told('kept');
  if (found.length === 0) return told('not-found');
  try {
    const text = configText(found, { autoMerge, branch: await targetName(repository) });
    return told((await writeNew(repository.root, text)) ? 'written' : 'kept');
  } catch (error) {
    return told('failed', messageOf(error));
  }
}

async function isConfigured(
  platform: Pick<Platform, 'home' | 'caches'>,
  project: Project,
  repository: Repository,
): Promise<boolean> {
  if ((await statusOf(join(repository.root, configPath))) !== null) return true;
  const branch = await targetName(repository);
  const tip = branch === null ? null : await branchTip(repository, branch);
  if (tip === null) return false;
  const ownDir = ownGitDirectory(platform.home, project.id);
  return (await fileAt(repository, ownDir, tip, configPath, gateLimits.configBytes)).is !== 'absent';
}

/** The target branch; null in a repository that has none yet. */
async function targetName(repository: Repository): Promise<string | null> {
  try {
    return await defaultBranch(repository);
  } catch (error) {
    if (error instanceof PawlError) return null;
    throw error;
  }
}

/**
 * The text of a new file. Commands come from our own list, and are plain YAML words. Names a target branch other than
 * main or master, so that it does not depend on the current checkout.
 */
export function configText(
  found: readonly FoundCheck[],
  { autoMerge = false, branch = null }: { autoMerge?: boolean; branch?: string | null } = {},
): string {
  const isDefault = branch === null || branch === 'main' || branch === 'master';
  return [
    '# Commands that must pass before a change is merged, run one after the other at the exact commit.',
    '# Commit this file: once the target branch has one, that version applies.',
    'checks:',
    ...found.flatMap((each) =>
      needsNetwork(each)
        ? [
            `  - run: ${each.run}`,
            '    network: true # to fetch packages; without it, a check in the sandbox has no network',
          ]
        : [`  - ${each.run}`],
    ),
    'queue:',
    '  # true: a change is merged as soon as its checks pass. false: you merge it with `pawl change merge`.',
    `  auto: ${autoMerge}`,
    ...(isDefault ? [] : ['  # The branch that changes are merged into.', `  branch: ${JSON.stringify(branch)}`]),
    '',
  ].join('\n');
}

/** Writes the file atomically, and never over another. False if there is one by now. */
async function writeNew(root: string, text: string): Promise<boolean> {
  const directory = join(root, '.pawl');
  await mkdir(directory, { recursive: true });
  if ((await statusOf(directory))?.isDirectory() !== true) throw new Error(`${directory} is a link`);
  const draft = join(directory, `.config.yaml.${randomBytes(6).toString('hex')}`);
  try {
    {
      await using file = await open(draft, 'wx', 0o644);
      await file.writeFile(text);
      await file.sync();
    }
    await link(draft, join(root, configPath));
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function statusOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
