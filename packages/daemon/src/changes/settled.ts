import { limits } from '@pawl/schema/limit';
import type { Platform } from '../platform/platform.ts';

/** Runs of a project whose work is settled. */
export type Settled = { has(runId: string): boolean; add(runId: string): void };

/** For each daemon, by project: a busy one keeps no other from being remembered. */
const memories = new WeakMap<Platform, Map<string, Set<string>>>();

/** The latest settled runs of a project. A branch does not move after its agent's run has ended; and to look once more costs little. */
export function settledRuns(platform: Platform, projectId: string): Settled {
  const projects = memories.get(platform) ?? new Map<string, Set<string>>();
  memories.set(platform, projects);
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
