import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { placesOfAgent } from '@pawl/store/agents/places';
import { allQueues } from '@pawl/store/changes/queues';
import { listProjects } from '@pawl/store/projects/projects';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { createCrew } from '../changes/repair/crew.ts';
import { createChecker } from '../checks/checker.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import { queueEvents } from './queue-events.ts';
import { createPacer } from './queue-pacer.ts';
import type { PassParts } from './queue-pass.ts';
import { passOrRetry } from './queue-pass.ts';
import { hasMoved } from './queue-watch.ts';
import { createRefresh } from './refresh.ts';
import { recordTarget } from './read-target.ts';

/** The merge queues of all projects. */
export type MergeQueues = {
  /** Reads and records the target branch now, before something is refused because of an outdated value. */
  recordTarget(projectId: string): Promise<void>;
  /** Checks the target branch as it is now, whatever is known of it. */
  checkMain(projectId: string): Promise<void>;
  /** Adopts checks that run since an earlier daemon, and starts the passes. */
  begin(): Promise<void>;
  /** Starts nothing more; running checks continue on their own. */
  close(): Promise<void>;
};

export function createMergeQueues(platform: SessionPlatform, reconciler: Pick<Reconciler, 'inLane'>): MergeQueues {
  const { store } = platform;
  const checker = createChecker(platform);
  const parts: PassParts = { platform, crew: createCrew(platform), checker };
  const refresh = createRefresh(platform, { reconciler });
  const { wake, ...pacer } = createPacer(
    (projectId, watch) => passOrRetry(parts, projectId, watch),
    platform.timing.queueMs,
  );
  let ticking: NodeJS.Timeout | null = null;
  let stopListening = () => {};

  function onEvent({ type, projectId, agentId }: Event): void {
    if (projectId === null || !queueEvents.has(type)) return;
    wake(projectId);
    if (agentId !== null) void wakeFurther(agentId);
  }

  /** Wakes the queue of each further project of an agent. */
  async function wakeFurther(agentId: string): Promise<void> {
    try {
      for (const { projectId } of await placesOfAgent(store.db, agentId)) wake(projectId);
    } catch (error) {
      platform.log.warn({ agent: agentId, error: messageOf(error) }, 'failed to wake the queues of further projects');
    }
  }

  /** Finds what no event reports: pushes by others, a checkout that is clean again, an agent that is gone. */
  async function tick(): Promise<void> {
    await checker.tend();
    for (const { projectId } of await allQueues(store.db)) {
      const { rest } = pacer.watchOf(projectId);
      // If that is unknown, perhaps because the repository is gone, the pass reports it.
      if (rest === null || (await hasMoved(platform, projectId, rest).catch(() => true))) wake(projectId);
    }
  }

  return {
    async recordTarget(projectId) {
      await pacer.inLane(projectId, () => recordTarget(platform, projectId, pacer.watchOf(projectId)));
      wake(projectId);
    },
    async checkMain(projectId) {
      pacer.watchOf(projectId).askedAt = platform.clock();
      wake(projectId);
    },
    async begin() {
      stopListening = store.onCommit(({ events }) => events.forEach(onEvent));
      await checker.adopt();
      refresh.begin();
      ticking = setInterval(() => void tick().catch(() => undefined), platform.timing.queueMs).unref();
      for (const { id } of await listProjects(store.db)) wake(id);
    },
    async close() {
      stopListening();
      pacer.stop();
      if (ticking !== null) clearInterval(ticking);
      await refresh.close();
      await pacer.drain();
      await checker.close();
    },
  };
}
