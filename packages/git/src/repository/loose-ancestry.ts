import { gitLimits } from '../command/limit.ts';
import { parentsOf } from './straight-line.ts';
import { looseObject } from './loose-object.ts';

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
