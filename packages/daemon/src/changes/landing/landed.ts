import { notContained } from '@pawl/git/repository/contained';
import { limits } from '@pawl/schema/limit';
import { mergedHeads } from '@pawl/store/changes/changes';
import type { Cache } from '../../platform/caches.ts';
import type { LandingContext } from './advance.ts';

type LandedParts = Pick<LandingContext, 'platform' | 'project' | 'repository' | 'ownDir'> & { target: { tip: string } };

/** The last result: it is needed at each step, and changes only when main moves. */
const lastAnswer: Cache<{ known: { key: string; gone: Set<string> } | null }> = { empty: () => ({ known: null }) };

/**
 * Heads of merged changes that the target branch still contains as other commits, so that work based on them need not
 * merge them again. Work that was removed from the branch since must be merged again.
 */
export async function landedHeads({ platform, project, repository, ownDir, target }: LandedParts): Promise<string[]> {
  const merged = await mergedHeads(platform.store.db, project.id, limits.landedHeads);
  const commits = [...new Set(merged.map(({ commit }) => commit))];
  const key = [ownDir, target.tip, ...commits].join('\0');
  const last = platform.caches.of(lastAnswer);
  const gone =
    last.known?.key === key ? last.known.gone : await notContained(repository, ownDir, { commits, tip: target.tip });
  last.known = { key, gone };
  return merged.filter(({ commit }) => !gone.has(commit)).map(({ head }) => head);
}
