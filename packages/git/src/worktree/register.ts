import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { runInUserRepository } from '../command/command.ts';
import { complaintOf, isHeldLock } from '../command/git-failure.ts';
import { removeOldLock, waitForEarlierGit } from './leftover.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { readPointer } from '../repository/pointer-file.ts';
import { findRegistration, isHalfMade, readRegistration, registrationIdAt, type Registration } from './registration.ts';
import { repairLost } from './repair.ts';
import { branchTip, type Repository } from '../repository/repository.ts';

/** Without a branch, HEAD is detached at `base`. */
export type Place = { path: string; branch: string | null; base: string };

/**
 * Registers a worktree without its files. Tries first and investigates only if git refuses, because there is rarely
 * anything to repair. `isNew` is false if an earlier call had registered it.
 */
export async function register(
  repository: Repository,
  place: Place,
): Promise<{ registration: Registration; isNew: boolean }> {
  let isBranchThere = false;
  for (let attempt = 1; ; attempt += 1) {
    const found = await inspect(repository, place);
    if (found !== null) return { registration: found, isNew: false };
    try {
      await withLock(repositoryLock(repository), () => add(repository, place, isBranchThere));
      const added = await findRegistration(repository, place.path);
      if (added !== null && added.branch === place.branch) return { registration: added, isNew: true };
      throw new PawlError('git_failed', `Git created no worktree at ${place.path}.`, { hint: 'Try again.' });
    } catch (error) {
      if (attempt >= gitLimits.registerAttempts) throw error;
      isBranchThere = await clearTheWay(repository, place, error, { attempt, isBranchThere });
    }
  }
}

/** One command at a time reads and writes git's list of worktrees; concurrent ones fail. */
export function repositoryLock(repository: Repository): string {
  return `repository:${repository.commonDir}`;
}

async function add(repository: Repository, { path, branch, base }: Place, isBranchThere: boolean): Promise<void> {
  const target =
    branch === null
      ? ['--detach', '--', path, base]
      : isBranchThere
        ? ['--', path, branch]
        : ['--no-track', '-b', branch, '--', path, base];
  await runInUserRepository(repository.commonDir, ['worktree', 'add', '--quiet', '--no-checkout', ...target]);
}

/** Inspects the path: returns our registered worktree, or null if it is free. Foreign files are a conflict. */
async function inspect(repository: Repository, { path, branch }: Place): Promise<Registration | null> {
  const entries = await entriesOf(path);
  if (entries === null || entries.length === 0) return null;
  const id = await registrationIdAt(repository, path);
  const registration = id === null ? null : await readRegistration(repository, id);
  const isOurs = registration?.path === path;
  if (isOurs && !isHalfMade(registration)) {
    if (registration.branch === branch) return registration;
    throw new PawlError('conflict', `${path} is a worktree on ${registration.branch ?? 'a detached HEAD'}.`, {
      hint: `It was to be on ${branch ?? 'no branch'}. Choose another path, or remove that worktree.`,
    });
  }
  const isAlone = entries.length === 1 && entries[0] === '.git';
  const wasNeverMade = isOurs || (id !== null && registration === null) || (await isEmptyFile(join(path, '.git')));
  if (!isAlone || !wasNeverMade) {
    throw new PawlError('conflict', `${path} already exists and is not a worktree of this agent.`, {
      hint: 'Move it aside. Pawl does not touch files that it did not write.',
    });
  }
  // Only the pointer of a killed `worktree add` is there: no file was ever checked out.
  await waitForEarlierGit(path);
  if (isOurs) await rm(registration.adminDir, { recursive: true, force: true });
  await rm(join(path, '.git'), { force: true });
  return null;
}

/** Finds out why git refused. Throws if nothing can be done, else returns whether the branch already exists. */
async function clearTheWay(
  repository: Repository,
  place: Place,
  error: unknown,
  { attempt, isBranchThere }: { attempt: number; isBranchThere: boolean },
): Promise<boolean> {
  const complaint = complaintOf(error);
  await waitForEarlierGit(place.path);
  const lost = await findRegistration(repository, place.path);
  if (lost !== null) {
    await withLock(repositoryLock(repository), () => repairLost(repository, lost, place));
    return isBranchThere;
  }
  if (isHeldLock(complaint)) {
    // A killed git leaves its lock on the branch. Only Pawl uses its branches.
    if (attempt === gitLimits.registerAttempts - 1 && place.branch !== null) {
      await removeOldLock(join(repository.commonDir, 'refs', 'heads', `${place.branch}.lock`));
    }
    await delay(Math.min(gitLimits.lockRetryMs * 2 ** (attempt - 1), gitLimits.lockRetryMaxMs));
  }
  if (place.branch === null) {
    if (isHeldLock(complaint)) return false;
    throw error;
  }
  const tip = await branchTip(repository, place.branch);
  if (tip !== null && tip !== place.base) throw branchTaken(place, 'it has other commits');
  if (tip !== null && /already (checked out|used by worktree) at/.test(complaint)) {
    throw branchTaken(place, 'another worktree has it checked out');
  }
  const obstacle = /'refs\/heads\/([^']+)' exists; cannot create/.exec(complaint)?.[1];
  if (obstacle !== undefined) {
    throw new PawlError('conflict', `The branch ${obstacle} conflicts with ${place.branch}.`, {
      hint: `Git cannot hold both. Rename it: git branch -m ${obstacle} <another name>`,
    });
  }
  if (tip !== null && !isBranchThere) return true;
  if (isHeldLock(complaint)) return tip !== null;
  throw error;
}

function branchTaken({ branch, base }: Place, reason: string): PawlError {
  return new PawlError('conflict', `The branch ${branch} already exists, and ${reason}.`, {
    hint: 'Choose another name. Pawl never moves a branch that it did not create.',
    details: { branch, base },
  });
}

async function entriesOf(path: string): Promise<string[] | null> {
  try {
    if ((await lstat(path)).isDirectory()) return await readdir(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
  throw new PawlError('conflict', `${path} already exists and is not a directory.`, { hint: 'Move it aside.' });
}

async function isEmptyFile(path: string): Promise<boolean> {
  return (await readPointer(path)) === '';
}
