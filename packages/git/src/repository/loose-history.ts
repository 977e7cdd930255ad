import { gitLimits } from '../command/limit.ts';
import { looseObject } from './loose-object.ts';

/** A commit of a straight line, with its only parent. */
export type LineCommit = { id: string; parents: readonly [string] };

/**
 * The commits from a head down to a base, without the base, if each has one parent; read without a git process. Null if
 * only git can tell: the line is long, has a merge or packed commits, or does not reach the base.
 */
export async function straightLine(
  objectsDirs: readonly string[],
  { base, head }: { base: string; head: string },
): Promise<LineCommit[] | null> {
  const line: LineCommit[] = [];
  for (let id = head; line.length < gitLimits.straightCommits;) {
    if (id === base) return line;
    const object = await looseObject(objectsDirs, id, gitLimits.commitBytes);
    const parents = object?.type === 'commit' ? parentsOf(object.content) : [];
    const [parent] = parents;
    if (parent === undefined || parents.length > 1) return null;
    line.push({ id, parents: [parent] });
    id = parent;
  }
  return null;
}

/**
 * Whether a head is a commit or descends from it, read without a git process. Null if only git can tell: the history
 * has more commits than the limit, or some of them are packed or missing.
 */
export async function looseAncestry(
  objectsDirs: readonly string[],
  { base, head }: { base: string; head: string },
): Promise<boolean | null> {
  const seen = new Set([head]);
  // A set is walked in the order of insertion, including what is added on the way.
  for (const commit of seen) {
    if (commit === base) return true;
    const object = await looseObject(objectsDirs, commit, gitLimits.commitBytes);
    if (object?.type !== 'commit') return null;
    for (const parent of parentsOf(object.content)) seen.add(parent);
    if (seen.size > gitLimits.straightCommits) return null;
  }
  return false;
}

/** The ids of a commit's parents, in order. */
function parentsOf(commit: Buffer): string[] {
  const end = commit.indexOf('\n\n');
  const head = commit.toString('latin1', 0, end === -1 ? commit.length : end).split('\n');
  return head.filter((line) => line.startsWith('parent ')).map((line) => line.slice('parent '.length));
}
