import { PawlError } from '@pawl/schema/error';
import { runForUserRepository, runInUserRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import { looseAncestry } from '../repository/loose-history.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { commitTree } from '../worktree/work-tree.ts';

export type MergePlan =
  /** The target already has everything on the branch. */
  | { do: 'nothing' }
  /** The target moves to this commit: the branch's own, or a new merge of both. */
  | { do: 'move'; commit: string }
  | { do: 'refuse'; files: string[] };

/**
 * Plans the merge of a branch into its target, in Pawl's own git directory. Changes no ref and no work tree; git
 * eventually drops an unused commit.
 */
export async function planMerge(
  repository: Repository,
  request: { ownDir: string; tip: string; onto: string; message: string },
): Promise<MergePlan> {
  const { ownDir, tip, onto, message } = request;
  if (await isContained(repository, tip, onto)) return { do: 'nothing' };
  if (await isContained(repository, onto, tip)) return { do: 'move', commit: tip };
  await ensureOwnDirectory(repository, ownDir);
  const objectsDir = objectsDirOf(repository);
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', onto, tip];
  const { exitCode, stdout } = await runForUserRepository(ownDir, objectsDir, args, { answers: [1, 129] });
  if (exitCode === 129) throw needsNewerGit();
  const [tree = '', ...files] = stdout.split('\0').filter((word) => word !== '');
  if (exitCode === 1) return { do: 'refuse', files: files.slice(0, gitLimits.namedFiles) };
  return { do: 'move', commit: await commitTree({ ownDir, objectsDir, tree, parents: [onto, tip], message }) };
}

/** Git prints its usage if it cannot merge without a work tree. */
export function needsNewerGit(): PawlError {
  return new PawlError('unavailable', 'This git cannot merge without a work tree.', {
    hint: 'Install git 2.38 or newer, or merge the branch by hand.',
  });
}

/** True if another commit contains everything in this one. */
export async function isContained(repository: Repository, commit: string, other: string): Promise<boolean> {
  const known = await looseAncestry([objectsDirOf(repository)], { base: commit, head: other });
  if (known !== null) return known;
  const args = ['rev-list', '--count', '--max-count=1', commit, '--not', other, '--'];
  return (await runInUserRepository(repository.commonDir, args)).stdout.trim() === '0';
}

/** The branch of the main work tree; null if its HEAD is detached. */
export async function currentBranch(repository: Repository): Promise<string | null> {
  const args = ['symbolic-ref', '--quiet', 'HEAD'];
  const { exitCode, stdout } = await runInUserRepository(repository.commonDir, args, { answers: [1] });
  return exitCode === 0 ? (/^refs\/heads\/(.+)\n$/.exec(stdout)?.[1] ?? null) : null;
}
