import { gitLimits } from '../command/limit.ts';
import { looseObject } from './loose-object.ts';

/**
 * True if a line of commits with one parent each leads from a head down to a base, read without a git process. Null if
 * the line is long, has a merge, or has packed commits.
 */
export async function isStraightLine(
  objectsDirs: readonly string[],
  { base, head }: { base: string; head: string },
): Promise<true | null> {
  let commit = head;
  for (let left: number = gitLimits.straightCommits; left > 0; left -= 1) {
    if (commit === base) return true;
    const object = await looseObject(objectsDirs, commit, gitLimits.commitBytes);
    const parents = object?.type === 'commit' ? parentsOf(object.content) : [];
    const [parent] = parents;
    if (parent === undefined || parents.length > 1) return null;
    commit = parent;
  }
  return null;
}

/** The ids of a commit's parents, in order. */
export function parentsOf(commit: Buffer): string[] {
  const end = commit.indexOf('\n\n');
  const head = commit.toString('latin1', 0, end === -1 ? commit.length : end).split('\n');
  return head.filter((line) => line.startsWith('parent ')).map((line) => line.slice('parent '.length));
}
