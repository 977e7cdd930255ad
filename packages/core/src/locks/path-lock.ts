import type { PathLock } from '@pawl/schema/runtime/path-lock';
import { matchesGlob } from '../guard/glob.ts';

/** True if a path below the top of a worktree matches one of the patterns. */
export function isWithin(globs: readonly string[], path: string): boolean {
  return globs.some((glob) => matchesGlob(glob, path));
}

/** The lock of another agent on a path, if there is one. */
export function lockAgainst(locks: readonly PathLock[], agentId: string, path: string): PathLock | null {
  return locks.find((lock) => lock.agentId !== agentId && isWithin(lock.globs, path)) ?? null;
}

/** The lock of another agent that these patterns may overlap, if there is one. */
export function lockInTheWay(locks: readonly PathLock[], agentId: string, globs: readonly string[]): PathLock | null {
  const overlaps = (lock: PathLock) => lock.globs.some((theirs) => globs.some((ours) => mayOverlap(theirs, ours)));
  return locks.find((lock) => lock.agentId !== agentId && overlaps(lock)) ?? null;
}

/** False only if no path can match both: their fixed beginnings differ. */
function mayOverlap(one: string, other: string): boolean {
  if (matchesGlob(one, other) || matchesGlob(other, one)) return true;
  const [a, b] = [fixedPart(one), fixedPart(other)];
  const isFixed = a.whole && b.whole;
  return !isFixed && (a.text.startsWith(b.text) || b.text.startsWith(a.text));
}

/** The part before the first wildcard. */
function fixedPart(glob: string): { text: string; whole: boolean } {
  const text = glob.replace(/^\.?\//, '');
  const wild = text.search(/[*?]|\/$/);
  return wild === -1 ? { text, whole: true } : { text: text.slice(0, wild), whole: false };
}
