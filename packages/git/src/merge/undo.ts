import { readCommit, writeCommit } from '../repository/commit-object.ts';
import type { Repository } from '../repository/repository.ts';
import { mergeTrees } from './merge-trees.ts';

export type Undone = { do: 'undone'; commit: string } | { do: 'conflict'; files: string[] };

/**
 * Undoes the work between two commits on top of another one, as a new commit in Pawl's own git directory. Returns the
 * given tip if nothing of the work is left.
 */
export async function undoWork(
  repository: Repository,
  request: { ownDir: string; tip: string; from: string; to: string; message: string; atMs: number },
): Promise<Undone> {
  const { ownDir, tip, from, to, message, atMs } = request;
  const [before, now] = [await readCommit(repository, ownDir, from), await readCommit(repository, ownDir, tip)];
  // Two children of the work's last commit: the files before it, and those of the tip. Their merge is a revert.
  const parents = [to];
  const theirs = await writeCommit(repository, ownDir, { tree: before.tree, parents, message: '', atMs });
  const ours = await writeCommit(repository, ownDir, { tree: now.tree, parents, message: '', atMs });
  const merged = await mergeTrees(repository, ownDir, ours, theirs);
  if (merged.do === 'conflict') return merged;
  if (merged.tree === now.tree) return { do: 'undone', commit: tip };
  return {
    do: 'undone',
    commit: await writeCommit(repository, ownDir, { tree: merged.tree, parents: [tip], message, atMs }),
  };
}
