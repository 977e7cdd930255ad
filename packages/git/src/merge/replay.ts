import { chainObjects, checkCommitId } from '../command/chain-command.ts';
import { authorOf, readCommit, writeCommit } from '../repository/commit-object.ts';
import { readHistory, walk } from '../repository/history.ts';
import { gitLimits } from '../command/limit.ts';
import { straightLine } from '../repository/loose-history.ts';
import { mergeTrees } from './merge-trees.ts';
import type { Repository } from '../repository/repository.ts';

type Range = { ownDir: string; onto: string; head: string; landed: readonly string[] };
type RangeCommit = { id: string; parents: readonly string[] };
type Tip = { commit: string; tree: string };

/** The commits of a change, to replay onto another base. */
export type ChangeRange = {
  /** Its commits that neither `onto` nor the landed heads have, parents before children. */
  commits: RangeCommit[];
  /** The landed heads that it was built on. */
  below: string[];
};

/** Finds the commits of a change in one pass over the history above `onto`. */
export async function readRange(repository: Repository, request: Range): Promise<ChangeRange> {
  const { ownDir, head, onto, landed } = request;
  const line = landed.length > 0 ? null : await straightLine(chainObjects(repository, ownDir), { base: onto, head });
  if (line !== null) return { commits: line.toReversed(), below: [] };
  const ends = [checkCommitId(head), `^${checkCommitId(onto)}`];
  // Old landed heads may be gone; nothing can be built on them then. Git ignores only what is missing after this
  // option: a missing head is not an empty change.
  const words = ['--topo-order', '--reverse', ...ends, '--ignore-missing'];
  const above = await readHistory(repository, ownDir, { words, lines: landed.map(checkCommitId) });
  const own = walk(above, [head]).inside;
  const others = walk(above, landed).inside;
  return {
    commits: [...above].filter(([id]) => own.has(id) && !others.has(id)).map(([id, parents]) => ({ id, parents })),
    below: landed.filter((commit) => own.has(commit)),
  };
}

/** Range and tree of `onto` are looked up if absent. */
type ReplayRequest = Range & { atMs: number; range?: ChangeRange; ontoTree?: string };

/**
 * Replays the commits of a change onto another commit one by one, with their authors and messages. Commits that already
 * follow it stay. Skips merges without manual resolution, and commits that became empty. Null if there are too many
 * commits, a merge holds work of its own, or a commit conflicts; the change as a whole may still apply.
 */
export async function replay(repository: Repository, request: ReplayRequest): Promise<Tip | null> {
  const { ownDir, onto, head } = request;
  const { commits: range } = request.range ?? (await readRange(repository, request));
  if (range.length > gitLimits.replayedCommits) return null;
  // Nothing left to replay: the head's own commits landed in another form.
  if (range.length === 0)
    return { commit: onto, tree: request.ontoTree ?? (await readCommit(repository, ownDir, onto)).tree };
  const isStraight = range.every(
    ({ parents }, at) => parents.length === 1 && parents[0] === (range[at - 1]?.id ?? onto),
  );
  if (isStraight) return { commit: head, tree: (await readCommit(repository, ownDir, head)).tree };
  let tip: Tip = { commit: onto, tree: request.ontoTree ?? (await readCommit(repository, ownDir, onto)).tree };
  for (const commit of range) {
    const isMerge = commit.parents.length > 1;
    const next = isMerge
      ? await leaveOut(repository, ownDir, commit, tip)
      : await pick(repository, request, commit, tip);
    if (next === null) return null;
    tip = next;
  }
  return tip;
}

/** Skips a merge if git alone would have merged the same. */
async function leaveOut(
  repository: Repository,
  ownDir: string,
  { id, parents }: RangeCommit,
  tip: Tip,
): Promise<Tip | null> {
  const [first = '', second = '', another] = parents;
  if (another !== undefined) return null;
  const merged = await mergeTrees(repository, ownDir, first, second);
  return merged.do === 'merged' && merged.tree === (await readCommit(repository, ownDir, id)).tree ? tip : null;
}

/** Applies one commit to the tip. */
async function pick(
  repository: Repository,
  { ownDir, atMs }: Range & { atMs: number },
  { id, parents }: RangeCommit,
  tip: Tip,
): Promise<Tip | null> {
  const original = await readCommit(repository, ownDir, id);
  // A sibling of the commit with the tip's files: their base is the commit's parent, which makes the merge a
  // cherry-pick.
  const sibling = await writeCommit(repository, ownDir, { tree: tip.tree, parents: [...parents], message: '', atMs });
  const merged = await mergeTrees(repository, ownDir, sibling, id, { anyBase: parents.length === 0 });
  if (merged.do === 'conflict') return null;
  const { tree } = merged;
  if (tree === tip.tree) return tip;
  const { encoding, message } = original;
  const author = authorOf(original, atMs);
  const commit = await writeCommit(repository, ownDir, {
    tree,
    parents: [tip.commit],
    author,
    encoding,
    message,
    atMs,
  });
  return { commit, tree };
}
