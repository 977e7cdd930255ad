import { gitLimits } from '../command/limit.ts';
import type { TreeEntry } from './loose-object.ts';
import { looseTree, looseTreeOf } from './loose-object.ts';

const treeMode = '040000';

/** Two versions of one directory; null for a version without it. */
type Pair = { path: string; from: string | null; to: string | null };

/**
 * The paths that differ between two commits, in git's order, read without a git process. Null if only git can tell:
 * some trees are packed, or there are too many.
 */
export async function looseChangedFiles(
  objectsDirs: readonly string[],
  { from, to }: { from: string; to: string },
): Promise<string[] | null> {
  const roots = await Promise.all([from, to].map((commit) => looseTreeOf(objectsDirs, commit, gitLimits.commitBytes)));
  const [before = null, after = null] = roots;
  if (before === null || after === null) return null;
  // Names are bytes, one character each, so that sorting them gives git's order.
  const paths: string[] = [];
  const pairs: Pair[] = before === after ? [] : [{ path: '', from: before, to: after }];
  let left: number = gitLimits.looseTrees;
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    left -= 1;
    if (left < 0) return null;
    const [old, current] = await Promise.all([entriesOf(objectsDirs, pair.from), entriesOf(objectsDirs, pair.to)]);
    if (old === null || current === null) return null;
    for (const name of new Set([...old.keys(), ...current.keys()]))
      compare(`${pair.path}${name}`, old.get(name), current.get(name), { paths, pairs });
  }
  return paths.sort().map((path) => Buffer.from(path, 'latin1').toString('utf8'));
}

/** Adds a path if it differs as a file, and a pair of trees to compare if it differs as a directory. */
function compare(
  path: string,
  old: TreeEntry | undefined,
  current: TreeEntry | undefined,
  found: { paths: string[]; pairs: Pair[] },
): void {
  if (old?.id === current?.id && old?.mode === current?.mode) return;
  const treeOf = (entry: TreeEntry | undefined) => (entry?.mode === treeMode ? entry.id : null);
  const isFile = (entry: TreeEntry | undefined) => entry !== undefined && entry.mode !== treeMode;
  const [from, to] = [treeOf(old), treeOf(current)];
  if (from !== null || to !== null) found.pairs.push({ path: `${path}/`, from, to });
  if (isFile(old) || isFile(current)) found.paths.push(path);
}

/** The entries of a tree by name; null if it cannot be read, or is not one that git would write. */
async function entriesOf(
  objectsDirs: readonly string[],
  id: string | null,
): Promise<ReadonlyMap<string, TreeEntry> | null> {
  if (id === null) return new Map();
  const entries = await looseTree(objectsDirs, id, gitLimits.looseTreeBytes);
  if (entries === null) return null;
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return byName.size === entries.length ? byName : null;
}
