import { createLanes } from '@pawl/core/sessions/turn-taking';
import { limits } from '@pawl/schema/limit';
import { setTimeout as delay } from 'node:timers/promises';
import type { Watch } from './queue-watch.ts';
import { newWatch } from './queue-watch.ts';

/** Schedules the passes of each project's queue: one at a time per project, soon after a wake. */
export type Pacer = {
  /** Schedules a pass soon. Two wakes before the pass count as one. */
  wake(projectId: string): void;
  watchOf(projectId: string): Watch;
  /** Runs `act` between two passes. */
  inLane<T>(projectId: string, act: () => Promise<T>): Promise<T>;
  /** Starts no further pass. */
  stop(): void;
  /** Resolves when the last pass has ended. */
  drain(): Promise<void>;
};

/**
 * Schedules passes; `runPass` returns the delay before the next one, or null. After many repetitions in a row that is
 * `idleMs`.
 */
export function createPacer(
  runPass: (projectId: string, watch: Watch) => Promise<number | null>,
  idleMs: number,
): Pacer {
  const lanes = createLanes();
  const watches = new Map<string, Watch>();
  let stopped = false;

  function watchOf(projectId: string): Watch {
    const watch = watches.get(projectId) ?? newWatch();
    watches.set(projectId, watch);
    return watch;
  }

  function wake(projectId: string): void {
    const watch = watchOf(projectId);
    if (stopped || watch.isDue) return;
    watch.isDue = true;
    void lanes.run(projectId, async () => {
      // Wait for related events, to handle them in one pass.
      await delay(limits.queueDebounceMs, undefined, { ref: false });
      watch.isDue = false;
      if (!stopped) await lookAndRepeat(projectId, watch);
    });
  }

  async function lookAndRepeat(projectId: string, watch: Watch): Promise<void> {
    const againMs = await runPass(projectId, watch);
    watch.waits = againMs === null || againMs === 0 ? 0 : watch.waits + 1;
    if (againMs === null || stopped) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    const afterMs = watch.waits > limits.quickWaits ? idleMs : againMs;
    watch.timer = setTimeout(() => wake(projectId), afterMs).unref();
  }

  return {
    wake,
    watchOf,
    inLane: (projectId, act) => lanes.run(projectId, act),
    stop() {
      stopped = true;
      for (const { timer } of watches.values()) if (timer !== null) clearTimeout(timer);
    },
    drain: () => lanes.drain(),
  };
}
