import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { looseAncestry } from '../repository/loose-history.ts';
import { asBytes, authorAt, readCommit, writeCommit, type CommitObject } from '../repository/commit-object.ts';
import { mergeTrees } from './merge-trees.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import { readRange, replay, type ChangeRange } from './replay.ts';
import type { Repository } from '../repository/repository.ts';

export type MergeRequest = {
  ownDir: string;
  /** The commit to put the change onto. */
  onto: string;
  /** The change's own commit. */
  head: string;
  method: 'squash' | 'merge' | 'rebase';
  message: string;
  /** Commit time: the same request gives the same commit. */
  atMs: number;
  /**
   * Heads of changes that `onto` has as other commits, because they were squashed or rebased. A change built on one of
   * them is compared with it, and does not conflict with its own base.
   */
  landed?: readonly string[];
  /** The tree of `onto`, if known. */
  ontoTree?: string;
  /** Reads the change's commit; lets the caller batch reads. */
  readHead?: () => Promise<CommitObject>;
};

export type MergeStep =
  | { do: 'merged'; commit: string; tree: string }
  /** `onto` already has everything in the change. */
  | { do: 'nothing' }
  /** Conflict; without files if the histories are unrelated. */
  | { do: 'conflict'; files: string[] };

/**
 * Puts a change onto a commit, in Pawl's own git directory. Writes no ref and no work tree, and runs no driver or
 * filter of any repository. A change to be rebased becomes one commit if it cannot be replayed commit by commit.
 */
export async function mergeStep(repository: Repository, request: MergeRequest): Promise<MergeStep> {
  const { ownDir, onto, head, method, atMs, readHead = () => readCommit(repository, ownDir, head) } = request;
  await ensureOwnDirectory(repository, ownDir);
  const range = await readRange(repository, { ownDir, onto, head, landed: request.landed ?? [] });
  if (range.commits.length === 0) return { do: 'nothing' };
  const landed = range.below;
  const ontoTree = request.ontoTree ?? (await treeOf(repository, ownDir, onto));
  const base = { ownDir, onto, head, landed, atMs, range, ontoTree };
  const first = firstOwnCommit(range, head);
  const readFirst = () => (first === head ? readHead() : readCommit(repository, ownDir, first));
  const replayed = method === 'rebase' ? await replay(repository, base) : null;
  if (replayed !== null) return replayed.tree === ontoTree ? { do: 'nothing' } : { do: 'merged', ...replayed };
  // A substitute for `onto` that descends from the landed heads, so that git finds the right base.
  const parents = [onto, ...landed];
  const ours =
    landed.length === 0 ? onto : await writeCommit(repository, ownDir, { tree: ontoTree, parents, message: '', atMs });
  const merged = await mergeTrees(repository, ownDir, ours, head);
  if (merged.do === 'conflict') return merged;
  if (merged.tree === ontoTree) return { do: 'nothing' };
  const commit = await writeCommit(repository, ownDir, {
    tree: merged.tree,
    parents: method === 'merge' ? [onto, head] : [onto],
    ...(method === 'merge' ? {} : { author: authorAt(await readFirst(), atMs) }),
    message: asBytes(request.message),
    atMs,
  });
  return { do: 'merged', commit, tree: merged.tree };
}

/**
 * The oldest non-merge commit on a change's own line: its author is the change's, even after main was merged into it.
 */
function firstOwnCommit({ commits }: ChangeRange, head: string): string {
  const parentsOf = new Map(commits.map(({ id, parents }) => [id, parents]));
  let first = head;
  let parents = parentsOf.get(head);
  for (let at = head; parents !== undefined; parents = parentsOf.get(at)) {
    if (parents.length < 2) first = at;
    const [parent] = parents;
    if (parent === undefined) break;
    at = parent;
  }
  return first;
}

/**
 * The commit that main moves to for a whole chain: the tip if it directly follows main, else a merge of both with the
 * tip's files. So no intermediate commit, which was not checked alone, is on main's first-parent line.
 */
export async function closeChain(
  repository: Repository,
  request: { ownDir: string; main: string; tip: string; message: string; atMs: number },
): Promise<string> {
  const { ownDir, main, tip, atMs } = request;
  await ensureOwnDirectory(repository, ownDir);
  const { parents, tree } = await readCommit(repository, ownDir, tip);
  if (tip === main || parents[0] === main) return tip;
  if (!(await isAncestor(repository, ownDir, main, tip))) throw new Error(`${tip} does not descend from ${main}`);
  const message = asBytes(request.message);
  return writeCommit(repository, ownDir, { tree, parents: [main, tip], message, atMs });
}

export async function treeOf(repository: Repository, ownDir: string, commit: string): Promise<string> {
  return (await readCommit(repository, ownDir, commit)).tree;
}

/** True if `of` is this commit, or descends from it. */
export async function isAncestor(repository: Repository, ownDir: string, commit: string, of: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', checkCommitId(commit), checkCommitId(of)];
  const known = await looseAncestry(chainObjects(repository, ownDir), { base: commit, head: of });
  return known ?? (await runOnChain(repository, ownDir, args, { answers: [1] })).exitCode === 0;
}
