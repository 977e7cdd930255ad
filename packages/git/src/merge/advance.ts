import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint, type CrashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { checkBranchName } from '../repository/branch-name.ts';
import { isBranchInUse } from '../repository/branch.ts';
import { runInUserRepository, runOnFiles, runOnRawFiles, type OwnView, type RawView } from '../command/command.ts';
import { untrackedInTheWay } from '../worktree/in-the-way.ts';
import { removeAbandonedLock, waitForEarlierGit } from '../worktree/leftover.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { isThere } from '../worktree/move.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import { repositoryLock } from '../worktree/register.ts';
import { canonicalPath, findRegistration } from '../worktree/registration.ts';
import { branchTip, objectsDirOf, type Repository } from '../repository/repository.ts';
import { withScratch } from '../command/scratch.ts';
import { copyIndex } from '../worktree/work-tree.ts';
import { readWorktrees } from '../worktree/worktree-list.ts';
import { unfinishedOperation } from '../worktree/worktree-work.ts';

export type Advance = {
  ownDir: string;
  branch: string;
  /** The branch's current commit, and its descendant to move to. */
  from: string;
  to: string;
  /** The reflog message. */
  note: string;
  /** The crash point after the ref has moved. */
  crashPoint?: CrashPoint;
  /** Keep uncommitted files unless they conflict; otherwise a checkout with any is refused. */
  keepsWork?: boolean;
};

/** The path where a branch is checked out, or null. */
export async function checkoutOf(repository: Repository, branch: string): Promise<string | null> {
  const worktrees = await withLock(repositoryLock(repository), () => readWorktrees(repository));
  return worktrees.find((worktree) => worktree.branch === branch)?.path ?? null;
}

/**
 * Moves a branch forward by compare-and-set. A clean work tree that has it checked out follows; a dirty one, or one
 * where something would be overwritten, is refused and nothing changes. Returns false if the branch was moved
 * meanwhile.
 *   checked (nothing written) ─▶ the ref moves ─▶ files and index of the checkout follow
 */
export async function advanceBranch(repository: Repository, advance: Advance): Promise<boolean> {
  const ref = `refs/heads/${checkBranchName(advance.branch)}`;
  const { from, to } = advance;
  await ensureOwnDirectory(repository, advance.ownDir);
  return withLock(repositoryLock(repository), async () => {
    if ((await branchTip(repository, advance.branch)) !== from) return false;
    const view = await findCheckout(repository, advance);
    if (view !== null) await refuseUnsafe(repository, view, advance);
    try {
      await runInUserRepository(repository.commonDir, ['update-ref', '-m', advance.note, ref, to, from]);
    } catch (error) {
      // Git compared again, under its lock.
      if ((await branchTip(repository, advance.branch)) !== from) return false;
      throw error;
    }
    crashPoint(advance.crashPoint ?? 'merge.after_ref');
    if (view === null) return true;
    try {
      await followFiles(view, from, to);
    } catch (error) {
      // A file was changed at this very moment. Undo: only we have moved the ref.
      await runInUserRepository(repository.commonDir, ['update-ref', '-m', 'pawl: undone', ref, from, to]);
      throw inTheWay(view, error);
    }
    return true;
  });
}

/**
 * Lets the files of a checkout follow a branch that a killed daemon had moved. Returns false if the checkout is at
 * neither commit: then a person must look at it.
 */
export async function finishAdvance(
  repository: Repository,
  advance: Omit<Advance, 'note' | 'crashPoint'>,
): Promise<boolean> {
  const { from, to } = advance;
  await ensureOwnDirectory(repository, advance.ownDir);
  return withLock(repositoryLock(repository), async () => {
    const view = await findCheckout(repository, advance).catch(() => null);
    if (view === null || (await branchTip(repository, advance.branch)) !== to) return true;
    // A git process of the dead daemon may still be running.
    await waitForEarlierGit(view.path);
    if (await isIndexAt(view, to)) return true;
    // The rest changes nothing in a checkout that has already followed, whatever else was staged there.
    if (advance.keepsWork === true) await removeAbandonedLock(view.adminDir);
    else if (!(await isIndexAt(view, from))) return false;
    try {
      await rehearse(repository, view, advance);
      await followFiles(view, from, to);
      return true;
    } catch {
      return false;
    }
  });
}

async function findCheckout(
  repository: Repository,
  { ownDir, branch }: Pick<Advance, 'ownDir' | 'branch'>,
): Promise<OwnView | null> {
  const [found, another] = (await readWorktrees(repository)).filter((worktree) => worktree.branch === branch);
  if (another !== undefined) {
    throw new PawlError('conflict', `${branch} is checked out in more than one place.`, {
      hint: 'Switch all but one of them to another branch; see `git worktree list`.',
    });
  }
  if (found === undefined) {
    if (!(await isBranchInUse(repository, branch))) return null;
    throw new PawlError('conflict', `A rebase or bisect of ${branch} is in progress.`, { hint: 'Finish it first.' });
  }
  const path = await canonicalPath(found.path);
  const registration = path === repository.root ? null : await findRegistration(repository, path);
  const adminDir = registration?.adminDir ?? repository.commonDir;
  if ((path !== repository.root && registration === null) || !(await isThere(path))) {
    throw new PawlError('conflict', `${branch} is checked out at ${path}, which no longer exists.`, {
      hint: 'Run `git worktree prune`.',
    });
  }
  return { ownDir, objectsDir: objectsDirOf(repository), adminDir, path };
}

/** Refuses a checkout with an operation in progress, or one that cannot follow without the person's own settings. */
async function refuseUnsafe(repository: Repository, view: OwnView, advance: Advance): Promise<void> {
  const { path, adminDir } = view;
  const refuse = (why: string, hint: string) => {
    throw new PawlError('conflict', `${advance.branch} is checked out at ${path}, and ${why}.`, { hint });
  };
  const byHand = `Merge by hand there, or merge into a branch that is not checked out (--into).`;
  const unfinished = await unfinishedOperation(adminDir);
  if (unfinished !== null) refuse(`a ${unfinished} is in progress there`, 'Finish it first.');
  if (await isThere(join(adminDir, 'index.lock'))) {
    refuse('a git command is running there', 'Wait for it; if none is running, delete index.lock.');
  }
  if (await isThere(join(adminDir, 'info', 'sparse-checkout'))) refuse('it is a sparse checkout', byHand);
  if (advance.keepsWork !== true && (await hasWork(view, advance.from))) {
    refuse('it has uncommitted changes', 'Commit or stash them first.');
  }
  await rehearse(repository, view, advance);
}

/** Whether tracked files differ from a commit, on disk or in the index. */
export async function hasWork(view: OwnView, commit: string): Promise<boolean> {
  const listed = await runOnFiles(view, ['ls-files', '-z', '--modified', '--deleted'], {
    maxBytes: gitLimits.statusBytes,
    mayTruncate: true,
  });
  return listed.stdout !== '' || !(await isIndexAt(view, commit));
}

/** Whether the index equals a commit. */
export async function isIndexAt(view: OwnView, commit: string): Promise<boolean> {
  const args = ['diff-index', '--cached', '--quiet', '--no-ext-diff', commit, '--'];
  return (await runOnFiles(view, args, { answers: [1] })).exitCode === 0;
}

/** Tries on copies of the index whether the files can follow; does not even refresh the real one. */
export async function rehearse(
  repository: Repository,
  view: OwnView,
  { ownDir, from, to }: Pick<Advance, 'ownDir' | 'from' | 'to'>,
): Promise<void> {
  await withScratch(ownDir, async (scratch) => {
    await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
    const objectsDir = objectsDirOf(repository);
    const copy: RawView = {
      rawDir: ownDir,
      objectsDir,
      otherObjects: [],
      gitDir: scratch,
      indexFile: join(scratch, 'index'),
      path: view.path,
    };
    const goal = { ...copy, indexFile: join(scratch, 'goal') };
    await runOnRawFiles(goal, ['read-tree', to]);
    await refuseFilters(goal, from, to);
    await copyIndex(copy, view.adminDir);
    await runOnRawFiles(copy, ['update-index', '-q', '--refresh'], { answers: [1] });
    const ignored = await untrackedInTheWay(copy, from, to);
    if (ignored.length > 0) throw inTheWay(view, null, ignored);
    try {
      await runOnRawFiles(copy, ['read-tree', '-n', '-m', '-u', from, to]);
    } catch (error) {
      throw inTheWay(view, error);
    }
  });
}

/** Filters of a person's config, such as LFS, do not run here: their files would be wrong. */
async function refuseFilters(view: RawView, from: string, to: string): Promise<void> {
  const names = await runOnRawFiles(view, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--'], {
    asBytes: true,
  });
  if (names.stdout === '') return;
  const input = Buffer.from(names.stdout, 'latin1');
  const { stdout } = await runOnRawFiles(view, ['check-attr', '--cached', '-z', '--stdin', 'filter'], { input });
  const words = stdout.split('\0');
  // Three words per file: name, attribute, value.
  const filtered = words.filter(
    (_, at) => at % 3 === 0 && !['unspecified', 'unset', undefined].includes(words[at + 2]),
  );
  if (filtered.length === 0) return;
  throw new PawlError('conflict', `Some of the files need a filter: ${filtered.slice(0, 3).join(', ')}.`, {
    hint: 'Pawl runs no filters, since a repository could name any command as one. Merge by hand.',
    details: { files: filtered.slice(0, gitLimits.namedFiles) },
  });
}

/** Git's own two-way merge: keeps untouched files, and refuses if something would be overwritten. */
export async function followFiles(view: OwnView, from: string, to: string): Promise<void> {
  await runOnFiles(view, ['update-index', '-q', '--refresh'], { answers: [1] });
  await runOnFiles(view, ['read-tree', '-m', '-u', '--no-recurse-submodules', from, to]);
}

function inTheWay(view: OwnView, cause: unknown, files: string[] = []): PawlError {
  return new PawlError('conflict', `Files in ${view.path} are in the way of new ones.`, {
    hint: 'See `git status --ignored` there: move untracked files aside, or merge by hand.',
    details: { files },
    cause,
  });
}
