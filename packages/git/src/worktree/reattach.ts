import { lstat, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { freeAdminDir, replaceFile } from './admin-directory.ts';
import { isBranchInUse } from '../repository/branch.ts';
import { checkBranchName } from '../repository/branch-name.ts';
import { isCheckedOut } from '../merge/checkout.ts';
import { runOnFiles } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { readPointer } from '../repository/pointer-file.ts';
import { repositoryLock } from './register.ts';
import { canonicalPath, findRegistration, readRegistration, registrationIdAt } from './registration.ts';
import { branchTip, objectsDirOf, type Repository } from '../repository/repository.ts';

/** How a worktree's directory and git's record of it relate. */
export type WorktreeLink =
  | { state: 'whole' }
  | { state: 'missing' }
  /** The files exist, but git does not know them as a worktree, for this reason. */
  | { state: 'detached'; reason: string };

/** Checks whether git still knows a worktree. Changes nothing. */
export async function worktreeLink(repository: Repository, path: string): Promise<WorktreeLink> {
  const canonical = await canonicalPath(path);
  if (!(await isDirectory(canonical))) return { state: 'missing' };
  const id = await registrationIdAt(repository, canonical);
  const named = id === null ? null : await readRegistration(repository, id);
  if (named?.path !== canonical) {
    const known = await findRegistration(repository, canonical);
    return { state: 'detached', reason: known === null ? noRecord : 'its .git file does not name its repository' };
  }
  if (await isCheckedOut(named)) return { state: 'whole' };
  return { state: 'detached', reason: 'its index is missing' };
}

const noRecord = 'git has no record of it';

export type ReattachRequest = {
  /** Pawl's own git directory for this repository; created if missing. */
  ownDir: string;
  path: string;
  /** The branch that the worktree was made for. */
  branch: string;
};

/**
 * Makes a directory a worktree of its repository again, after git's record of it was deleted or the repository was
 * moved. Touches no file in it. Recreates a lost index from the branch, so that all changes count as unstaged. Returns
 * false if there was nothing to repair; the next call finishes an interrupted one.
 *   detached → record written → .git file written → index written
 */
export async function reattachWorktree(repository: Repository, request: ReattachRequest): Promise<boolean> {
  const branch = checkBranchName(request.branch);
  const path = await canonicalPath(request.path);
  return withLock(`worktree:${path}`, async () => {
    const link = await worktreeLink(repository, path);
    if (link.state === 'whole') return false;
    if (link.state === 'missing') {
      throw new PawlError('not_found', `There is no directory ${path}.`, { hint: 'There is nothing to reattach.' });
    }
    await ensureOwnDirectory(repository, request.ownDir);
    await refuseOwnRepository(path);
    const adminDir = await withLock(repositoryLock(repository), () => ensureRecord(repository, path, branch));
    crashPoint('reattach.after_record');
    await replaceFile(join(path, '.git'), `gitdir: ${adminDir}\n`);
    crashPoint('reattach.after_pointer');
    const registration = await readRegistration(repository, basename(adminDir));
    if (registration !== null && !(await isCheckedOut(registration))) {
      const view = { ownDir: request.ownDir, objectsDir: objectsDirOf(repository), adminDir, path };
      await runOnFiles(view, ['read-tree', '--no-recurse-submodules', 'HEAD']);
    }
    return true;
  });
}

/** Finds git's record of the worktree, or writes one on the worktree's branch. */
async function ensureRecord(repository: Repository, path: string, branch: string): Promise<string> {
  const known = await findRegistration(repository, path);
  if (known !== null && (known.branch !== null || known.detachedAt !== null)) return known.adminDir;
  if ((await branchTip(repository, branch)) === null) {
    throw new PawlError('conflict', `The branch ${branch} of ${path} is gone.`, {
      hint: `The files are unchanged. Recreate the branch (git branch ${branch} <commit>), then try again.`,
    });
  }
  if (await isBranchInUse(repository, branch)) {
    throw new PawlError('conflict', `The branch ${branch} of ${path} is checked out in another worktree.`, {
      hint: 'Switch that worktree to another branch first; see `git worktree list`.',
    });
  }
  const pointer = (await readPointer(join(path, '.git'))) ?? `gitdir: ${path}`;
  const adminDir = known?.adminDir ?? (await freeAdminDir(repository, pointer));
  await mkdir(adminDir, { recursive: true });
  // The path comes first: it identifies an interrupted record.
  await replaceFile(join(adminDir, 'gitdir'), `${path}/.git\n`);
  await replaceFile(join(adminDir, 'commondir'), '../..\n');
  await replaceFile(join(adminDir, 'HEAD'), `ref: refs/heads/${branch}\n`);
  return adminDir;
}

/** Refuses a directory with its own repository: its `.git` holds commits. */
async function refuseOwnRepository(path: string): Promise<void> {
  if (!(await isDirectory(join(path, '.git')))) return;
  throw new PawlError('conflict', `${path} has a repository of its own.`, {
    hint: `Somebody ran \`git init\` there. Move its .git directory away if you do not need it, then try again.`,
  });
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}
