import { createSerial } from '@pawl/core/sessions/turn-taking';
import { branchTips } from '@pawl/git/repository/branch-tips';
import type { Queue } from '@pawl/schema/change';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { projectById } from '@pawl/store/projects/projects';
import { allQueues } from '@pawl/store/changes/queues';
import { followTarget } from '../sessions/reconcile/follow-target.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import type { Goal } from './refresh-worktree.ts';
import { refreshWorktree } from './refresh-worktree.ts';

/** Keeps the worktrees of idle agents up to date with main. */
export type Refresh = {
  /** Starts the periodic runs. */
  begin(): void;
  /** Checks every project with a queue, once. */
  tick(): Promise<void>;
  close(): Promise<void>;
};

/** Moves each worktree in its agent's lane, so never during a session. */
export function createRefresh(platform: Platform, { reconciler }: { reconciler: Pick<Reconciler, 'inLane'> }): Refresh {
  const { db } = platform.store;
  const serially = createSerial();
  const timers: NodeJS.Timeout[] = [];
  /** Branches with nothing to do until they or main move. */
  let settled = new Set<string>();
  let closed = false;

  async function refreshAll(): Promise<void> {
    const queues = new Map((await allQueues(db)).map((queue) => [queue.projectId, queue]));
    if (queues.size === 0) return;
    const still = new Set<string>();
    // Worktrees in further projects are not refreshed: the record of a refresh names an agent, not a place.
    const byProject = Map.groupBy(await everyLivingAgent(db), ({ agent }) => agent.projectId ?? '');
    for (const [projectId, queue] of queues) {
      const agents = (byProject.get(projectId) ?? []).map(({ agent }) => agent);
      await attempt(projectId, () => refreshProject(queue, agents, still));
    }
    settled = still;
  }

  async function refreshProject(queue: Queue, living: readonly Agent[], still: Set<string>): Promise<void> {
    const goal = await goalOf(platform, queue);
    if (goal === null) return;
    for (const { id, branch, worktree } of living)
      if (branch === null && worktree !== null && !closed)
        await attempt(id, () => reconciler.inLane(id, () => followTarget(platform, id)));
    const agents = living.filter(({ branch, worktreeReadyAt }) => branch !== null && worktreeReadyAt !== null);
    const tips = await branchTips(
      goal.repository,
      agents.map(({ branch }) => branch ?? ''),
    );
    for (const { id, branch } of agents) {
      const key = `${tips.get(branch ?? '') ?? ''} ${goal.onto}`;
      if (closed) return;
      const isSettled =
        settled.has(key) ||
        (await attempt(id, () => reconciler.inLane(id, async () => !closed && refreshWorktree(platform, id, goal))));
      if (isSettled === true) still.add(key);
    }
  }

  async function attempt<T>(what: string, act: () => Promise<T>): Promise<T | null> {
    try {
      return await act();
    } catch (error) {
      platform.log.warn({ what, error: messageOf(error) }, 'failed to update a worktree; will retry');
      return null;
    }
  }

  const tick = () => serially(refreshAll);
  const tickQuietly = () => void attempt('all', tick);
  return {
    begin() {
      timers.push(setTimeout(tickQuietly, limits.firstRefreshMs), setInterval(tickQuietly, limits.refreshMs));
      for (const timer of timers) timer.unref();
    },
    tick,
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      await serially(async () => {});
    },
  };
}

/** The last green main; worktrees are never moved to a red one. */
async function goalOf(platform: Platform, queue: Queue): Promise<Goal | null> {
  const onto = queue.green ?? queue.seen;
  const project = await projectById(platform.store.db, queue.projectId);
  if (onto === null || queue.emergency !== null || project === null) return null;
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  return { projectId: project.id, repository, ownDir, target: queue.branch, onto };
}
