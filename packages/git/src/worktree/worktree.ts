import { access, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { checkBranchName } from '../repository/branch-name.ts';
import { checkOut, clearUnfinishedCheckout, isCheckedOut } from '../merge/checkout.ts';
import { isIndexLocked } from './leftover.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { register } from './register.ts';
import {
  canonicalPath,
  checkWorktreePath,
  readRegistration,
  registrationIdAt,
  type Registration,
} from './registration.ts';
import { branchTip, type Repository } from '../repository/repository.ts';
import { checkOutSnapshot } from '../snapshot/snapshot-checkout.ts';

export type WorktreeRequest = {
  /** Pawl's own git directory for this repository; created if missing. */
  ownDir: string;
  path: string;
  /** Null for a detached HEAD at `base`. */
  branch: string | null;
  /** The full id of the commit that a new branch starts at. */
  base: string;
  /** The uncommitted files to start with, from `takeSnapshot`; `base` is then the snapshot's head. */
  snapshot?: { name: string; commit: string };
};

/** An existing, registered worktree, on its branch if it has one. */
export type Worktree = { path: string; branch: string | null };

/**
 * Creates a worktree, with its own branch if named, or finishes an earlier interrupted call. Idempotent, even after
 * work was done there meanwhile.
 *   free place → registered, no files → registered, files written (the index is there)
 */
export async function addWorktree(repository: Repository, request: WorktreeRequest): Promise<Worktree> {
  const branch = request.branch === null ? null : checkBranchName(request.branch);
  const { ownDir, base, snapshot } = request;
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(base)) {
    throw new PawlError('invalid_input', 'The base of a worktree must be a full commit id.', {
      hint: 'Resolve the revision first.',
    });
  }
  checkWorktreePath(request.path);
  await mkdir(dirname(request.path), { recursive: true, mode: 0o700 });
  const path = await canonicalPath(request.path);
  return withLock(`worktree:${path}`, async () => {
    await ensureOwnDirectory(repository, ownDir);
    const { registration, isNew } = await register(repository, { path, branch, base });
    crashPoint('spawn.after_worktree_add');
    for (let attempt = 1; !(await isCheckedOut(registration)); attempt += 1) {
      if (!isNew || attempt > 1) await clearUnfinishedCheckout(registration, path);
      const tip = () => (branch === null ? registration.detachedAt : branchTip(repository, branch));
      const commit = isNew ? base : ((await tip()) ?? base);
      // A branch that has moved was worked on; the snapshot is older than its commits.
      const withSnapshot = snapshot !== undefined && commit === base;
      const files = withSnapshot
        ? checkOutSnapshot(repository, registration, { ownDir, path, base, snapshot })
        : checkOut(repository, registration, { ownDir, path, commit });
      // A leftover git may have been too young to be seen, and have started since.
      await files.catch((error: unknown) => {
        if (attempt >= gitLimits.checkoutAttempts || !isIndexLocked(error)) throw error;
      });
    }
    return verifyWorktree(repository, path, branch);
  });
}

/**
 * Verifies that a finished worktree of this repository is exactly at this path, on the named branch if given. With null
 * it may be on any.
 */
export async function verifyWorktree(repository: Repository, path: string, branch?: string | null): Promise<Worktree> {
  const registration = await registrationAt(repository, path);
  const place = registration.path ?? path;
  await access(join(registration.adminDir, 'index')).catch((error: unknown) => {
    throw new PawlError('conflict', `The files of the worktree ${place} were never written.`, {
      hint: 'Start the agent again; that finishes the worktree.',
      cause: error,
    });
  });
  if (branch !== null && (registration.branch === null || (branch !== undefined && registration.branch !== branch))) {
    throw new PawlError('conflict', `The worktree ${place} is not on the branch ${branch ?? 'that it was made for'}.`, {
      hint: 'Run `git status` there, and switch back to its branch.',
      details: { branch: registration.branch },
    });
  }
  return { path: place, branch: registration.branch };
}

/** The registration of the worktree at this path, if worktree and repository point to each other. */
export async function registrationAt(repository: Repository, path: string): Promise<Registration> {
  const canonical = await canonicalPath(path);
  const id = await registrationIdAt(repository, canonical);
  const registration = id === null ? null : await readRegistration(repository, id);
  if (registration !== null && registration.path === canonical) return registration;
  throw new PawlError('not_found', `${canonical} is no longer a worktree of ${repository.root}.`, {
    hint: '`pawl doctor --fix` registers it again; its files stay unchanged.',
  });
}
