import type { Side } from '@pawl/core/ratchet/foresight';
import { changedFiles, conflictsBetween, mergeBase } from '@pawl/git/change-diff';
import type { Repository } from '@pawl/git/repository';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Workshop } from '../workshop.ts';

/** What was found out about commits, which does not change any more: so a fleet that rests costs next to nothing. */
type Memory = { files: Map<string, Side['files']>; conflicts: Map<string, string[]> };

/** For each daemon, what the last look at each of its projects found. */
const memories = new WeakMap<Workshop, Map<string, Memory>>();

/** Looks things up where they are known, and by git where they are not. What is not asked for any more is forgotten. */
export function recallComparisons(
  shop: Workshop,
  projectId: string,
  { repository, ownDir, main }: { repository: Repository; ownDir: string; main: string },
) {
  const projects = memories.get(shop) ?? new Map<string, Memory>();
  memories.set(shop, projects);
  const last = projects.get(projectId);
  const next: Memory = { files: new Map(), conflicts: new Map() };
  let left: number = limits.comparisons;

  async function filesOf(tip: string): Promise<Side['files']> {
    const base = await mergeBase(repository, ownDir, main, tip);
    if (base === null || base === tip) return new Set();
    try {
      const files = await changedFiles(repository, { ownDir, from: base, to: tip });
      return files.length > limits.comparedFiles ? null : new Set(files);
    } catch (error) {
      if (error instanceof PawlError && error.code === 'too_large') return null;
      throw error;
    }
  }

  return {
    files: (tip: string) => look(`${main} ${tip}`, last?.files, next.files, () => filesOf(tip), new Set<string>()),
    /** None of two that were not compared before, when enough were for one look: they are with the next one. */
    async conflicts(a: string, b: string): Promise<string[]> {
      const key = `${a} ${b}`;
      if (last?.conflicts.has(key) !== true && (left -= 1) < 0) return [];
      return look(key, last?.conflicts, next.conflicts, () => conflictsBetween(repository, { ownDir, a, b }), []);
    },
    keep: () => void projects.set(projectId, next),
  };

  /** A branch that cannot be looked at, because its objects are missing perhaps, keeps no other from being compared. */
  async function look<T>(
    key: string,
    before: Map<string, T> | undefined,
    after: Map<string, T>,
    find: () => Promise<T>,
    unknown: T,
  ): Promise<T> {
    try {
      const known = before?.get(key);
      const value = known === undefined ? await find() : known;
      after.set(key, value);
      return value;
    } catch (error) {
      shop.log.warn({ project: projectId, error: messageOf(error) }, 'a branch could not be compared with others');
      // What does not pass is not tried, and told, at each look.
      if (!isPassing(error)) after.set(key, unknown);
      return unknown;
    }
  }
}
