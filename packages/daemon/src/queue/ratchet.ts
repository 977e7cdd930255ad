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
import { seeTarget } from './target-look.ts';

/** The merge queues of all projects. */
export type Ratchet = {
  /** Looks where the target branch is now, and records it: before something is refused by what was seen earlier. */
  seeTarget(projectId: string): Promise<void>;
  /** Checks the target branch as it is now, whatever is known of it. */
  checkMain(projectId: string): Promise<void>;
  /** Takes up the checks that run from an earlier life, and begins to look. */
  begin(): Promise<void>;
  /** Nothing begins any more; checks that run go on by themselves. */
  close(): Promise<void>;
};

/** Drives every project's queue. */
export function createRatchet(platform: SessionPlatform, reconciler: Pick<Reconciler, 'inLane'>): Ratchet {
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

  function hear({ type, projectId, agentId }: Event): void {
    if (projectId === null || !queueEvents.has(type)) return;
    wake(projectId);
    if (agentId !== null) void wakeFurther(agentId);
  }

  /** An agent with several projects concerns the queue of each. */
  async function wakeFurther(agentId: string): Promise<void> {
    try {
      for (const { projectId } of await placesOfAgent(store.db, agentId)) wake(projectId);
    } catch (error) {
      platform.log.warn({ agent: agentId, error: messageOf(error) }, 'the queues of further projects were not woken');
    }
  }

  /** Finds what no event told: somebody else's push, a checkout that is clean again, an agent that has gone. */
  async function tick(): Promise<void> {
    await checker.tend();
    for (const { projectId } of await allQueues(store.db)) {
      const { rest } = pacer.watchOf(projectId);
      // Where that cannot be told, because the repository is gone perhaps, the look says so.
      if (rest === null || (await hasMoved(platform, projectId, rest).catch(() => true))) wake(projectId);
    }
  }

  return {
    async seeTarget(projectId) {
      await pacer.inLane(projectId, () => seeTarget(platform, projectId, pacer.watchOf(projectId)));
      wake(projectId);
    },
    async checkMain(projectId) {
      pacer.watchOf(projectId).askedAt = platform.clock();
      wake(projectId);
    },
    async begin() {
      stopListening = store.onCommit(({ events }) => events.forEach(hear));
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
