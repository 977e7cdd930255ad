import { limits } from '@pawl/schema/limit';
import type { Cache } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';

/** Runs of a project whose work is settled. */
export type Settled = { has(runId: string): boolean; add(runId: string): void };

/** By project, so that a busy one does not evict the others. */
const settled: Cache<Map<string, Set<string>>> = { empty: () => new Map() };

/**
 * The latest settled runs of a project. A branch does not move after its agent's run has ended, and checking again is
 * cheap.
 */
export function settledRuns({ caches }: Pick<Platform, 'caches'>, projectId: string): Settled {
  const projects = caches.of(settled);
  const runs = projects.get(projectId) ?? new Set<string>();
  projects.set(projectId, runs);
  return {
    has: (runId) => runs.has(runId),
    add(runId) {
      runs.add(runId);
      for (const oldest of runs) {
        if (runs.size <= limits.rememberedSteps) break;
        runs.delete(oldest);
      }
    },
  };
}
