import type { Side } from '@pawl/core/queue/foresight';
import { changedFiles, conflictsBetween, mergeBase } from '@pawl/git/repository/change-diff';
import { mergeBases } from '@pawl/git/repository/merge-bases';
import type { Repository } from '@pawl/git/repository/repository';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Cache } from '../../platform/caches.ts';
import type { Platform } from '../../platform/platform.ts';

/** Results for commits, which never change, so that an idle fleet costs next to nothing. */
type Memory = {
  /** The merge base of a branch, by main and tip. */
  bases: Map<string, string | null>;
  /** The files that a branch changes, by base and tip: a new main does not change them. */
  files: Map<string, Side['files']>;
  conflicts: Map<string, string[]>;
};

/** By project, the results of the last pass. */
const comparisons: Cache<Map<string, Memory>> = { empty: () => new Map() };

/** Looks up results in the cache or computes them with git. Drops entries that are no longer used. */
export function recallComparisons(
  platform: Platform,
  projectId: string,
  { repository, ownDir, main }: { repository: Repository; ownDir: string; main: string },
) {
  const projects = platform.caches.of(comparisons);
  const last = projects.get(projectId);
  const next: Memory = { bases: new Map(), files: new Map(), conflicts: new Map() };
  let left: number = limits.comparisons;

  /** Finds the merge bases of these branches, with one command for all that are new or whose main has moved. */
  async function learnBases(tips: readonly string[]): Promise<void> {
    const isNew = (tip: string) => last?.bases.has(`${main} ${tip}`) !== true;
    try {
      const found = await mergeBases(repository, { ownDir, main, tips: tips.filter(isNew) });
      for (const [tip, base] of found) next.bases.set(`${main} ${tip}`, base);
    } catch (error) {
      // One of them is unreadable; comparing them one by one shows which.
      platform.log.debug({ project: projectId, error: messageOf(error) }, 'comparing branches one by one');
    }
  }

  async function filesOf(tip: string): Promise<Side['files']> {
    const find = () => mergeBase(repository, ownDir, main, tip);
    const base = await look(`${main} ${tip}`, last?.bases, next.bases, find, null);
    if (base === null || base === tip) return new Set();
    return look(`${base} ${tip}`, last?.files, next.files, () => filesSince(base, tip), new Set());
  }

  async function filesSince(base: string, tip: string): Promise<Side['files']> {
    try {
      const files = await changedFiles(repository, { ownDir, from: base, to: tip });
      return files.length > limits.comparedFiles ? null : new Set(files);
    } catch (error) {
      if (error instanceof PawlError && error.code === 'too_large') return null;
      throw error;
    }
  }

  return {
    /** For each tip, the files that its branch changes. */
    async files(tips: readonly string[]): Promise<Map<string, Side['files']>> {
      await learnBases(tips);
      const found = new Map<string, Side['files']>();
      for (const tip of tips) found.set(tip, await filesOf(tip));
      return found;
    },
    /** Reports no conflict for new pairs beyond the limit of one pass; they are compared with the next. */
    async conflicts(a: string, b: string): Promise<string[]> {
      const key = `${a} ${b}`;
      if (last?.conflicts.has(key) !== true && (left -= 1) < 0) return [];
      return look(key, last?.conflicts, next.conflicts, () => conflictsBetween(repository, { ownDir, a, b }), []);
    },
    keep: () => void projects.set(projectId, next),
  };

  /** An unreadable branch, for example with missing objects, must not block the others. */
  async function look<T>(
    key: string,
    before: Map<string, T> | undefined,
    after: Map<string, T>,
    find: () => Promise<T>,
    unknown: T,
  ): Promise<T> {
    try {
      const known = (after.has(key) ? after : before)?.get(key);
      const value = known === undefined ? await find() : known;
      after.set(key, value);
      return value;
    } catch (error) {
      platform.log.warn({ project: projectId, error: messageOf(error) }, 'failed to compare a branch with others');
      // Cache permanent errors, so that they are not retried and logged at each pass.
      if (!isPassing(error)) after.set(key, unknown);
      return unknown;
    }
  }
}
