import { existsSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mount } from '@pawl/schema/launch-spec';
import { PawlError } from '@pawl/schema/error';
import { checkBranchName } from '../repository/branch-name.ts';
import { gitLimits } from '../command/limit.ts';
import { readPointer } from '../repository/pointer-file.ts';
import { makePrivateObjects } from './private-objects.ts';
import type { Repository } from '../repository/repository.ts';
import { objectsDirOf } from '../repository/repository.ts';
import { findRegistration } from '../worktree/registration.ts';

/** A worktree of a sandboxed agent; `name` is that of its private objects. */
export type ConfinedWorktree = { path: string; branch: string | null; name: string };

/**
 * Prepares a worktree for a sandbox, and returns the mounts that let git commit in it and nothing more: the repository is
 * read-only but for the worktree's record, the branches beside its own, and objects, which go to a private directory. So
 * hooks, config, other branches and worktrees, and the objects of others cannot be changed. The files that lead git to
 * the repository are read-only, too: git outside would follow changed ones.
 */
export async function confineWorktree(
  repository: Repository,
  { path, branch, name }: ConfinedWorktree,
): Promise<Mount[]> {
  const { commonDir } = repository;
  const registration = await findRegistration(repository, path);
  if (registration === null) throw new PawlError('internal', `${path} is no worktree of ${commonDir}.`);
  const record = registration.adminDir;
  const objects = await makePrivateObjects(repository, name);
  const own = branch === null ? [] : await branchDirectories(commonDir, branch);
  const kept = [
    join(path, '.git'),
    join(record, 'commondir'),
    join(record, 'gitdir'),
    ...(await configFile(commonDir, record)),
  ];
  return [
    mount(commonDir),
    mount(objectsDirOf(repository), objects.path, 'writable'),
    mount(join(objectsDirOf(repository), 'pack'), join(objects.path, 'pack')),
    mount(join(objectsDirOf(repository), 'info'), join(objects.path, 'info')),
    mount(objects.shared, objectsDirOf(repository)),
    ...[path, record, ...own].map((at) => mount(at, at, 'writable')),
    ...kept.map((at) => mount(at)),
  ];
}

/** Variables for a git whose object directory takes no packs. */
export const confinedGit: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'transfer.unpackLimit',
  GIT_CONFIG_VALUE_0: '1000000',
  GIT_CONFIG_KEY_1: 'gc.auto',
  GIT_CONFIG_VALUE_1: '0',
  GIT_CONFIG_KEY_2: 'maintenance.auto',
  GIT_CONFIG_VALUE_2: 'false',
};

function mount(at: string, from = at, show: 'readable' | 'writable' = 'readable'): Mount {
  return { at, show, from };
}

/** The directories of a branch's ref and log, with those beside it. Packing refs removes empty ones. */
async function branchDirectories(commonDir: string, branch: string): Promise<string[]> {
  checkBranchName(branch);
  const below = dirname(branch);
  if (below === '.') {
    throw new PawlError(
      'conflict',
      `The branch ${branch} is beside the main branch, so a sandbox cannot protect that.`,
      {
        hint: 'Use a branch below a prefix, such as work/name, or set `sandbox: off`.',
      },
    );
  }
  const directories = [join(commonDir, 'refs', 'heads', below), join(commonDir, 'logs', 'refs', 'heads', below)];
  for (const path of directories) await mkdir(path, { recursive: true });
  return directories;
}

/** The worktree's own config, if git reads one: it is created, since the agent could create a missing one. */
async function configFile(commonDir: string, record: string): Promise<string[]> {
  const config = (await readPointer(join(commonDir, 'config'), gitLimits.excludeBytes)) ?? '';
  const path = join(record, 'config.worktree');
  if (!/worktreeconfig/i.test(config) && !existsSync(path)) return [];
  await (await open(path, 'a')).close();
  return [path];
}
