import { refuseOther, refuseUntellable } from '@pawl/core/agents/errand';
import { diffBranch } from '@pawl/git/repository/branch-diff';
import type { BranchDiff } from '@pawl/git/repository/branch-diff';
import type { ErrandList } from '@pawl/protocol/agents/errands/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { listErrands } from '@pawl/store/agents/errands';
import { recordKill } from '../../registry/kill-record.ts';
import { cleanUp } from '../../sessions/reconcile/clean-up.ts';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, branchPlaceOf, projectOf, repositoryOf } from '../../platform/platform.ts';
import type { Agents } from '../agents.ts';
import { currentAgent } from '../../registry/current-agent.ts';
import type { MergeRequest, Merged } from './errand-merge.ts';
import { mergeErrand } from './errand-merge.ts';
import type { Signals } from '../signals.ts';

/** The end reason of an abandoned errand. */
const abandoned = 'abandoned';

export type ErrandParts = { platform: Platform; reconciler: Reconciler; agents: Agents; signals: Signals };

/** Errands: small jobs whose result a person merges or abandons. */
export function createErrands({ platform, reconciler, agents, signals }: ErrandParts) {
  const { store } = platform;

  return {
    /** The errands with their assignments, newest first. */
    async list(all: boolean): Promise<ErrandList> {
      const rows = await listErrands(store.db, { includeEnded: all });
      const views = await agents.views(rows);
      return { errands: views.map((view) => ({ ...view, description: view.assignment ?? '' })) };
    },

    /** Sends a message to an errand: live if its provider listens, else by resuming it. */
    async send(agent: Agent, message: string, key: string | undefined): Promise<'live' | 'resumed'> {
      const facts = await agentView(store.db, agent.id);
      if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agent.id}.`);
      refuseUntellable(facts);
      return signals.tell(agent.id, message, { by: 'person', key });
    },

    /**
     * The diff of an agent's branch and worktree against its base, committed or not; also for agents that are not
     * errands.
     */
    async diff(agent: Agent): Promise<BranchDiff & { branch: string; base: string }> {
      const project = await projectOf(store, agent);
      const place = branchPlaceOf(agent);
      const repository = await repositoryOf(platform, project);
      const diff = await diffBranch(repository, { ownDir: ownGitDirectory(platform.home, project.id), ...place });
      return { ...diff, branch: place.branch, base: place.base };
    },

    /** Merges an errand's branch and ends the errand; its worktree is then cleaned up as usual. */
    merge: (agent: Agent, request: MergeRequest): Promise<Merged> =>
      reconciler.inLane(agent.id, () => mergeErrand(platform, agent.id, request)),

    /** Ends an errand without merging. Its worktree goes to the trash with uncommitted files; its branch stays. */
    async abandon(agent: Agent): Promise<{ branch: string }> {
      refuseOther(agent);
      const { branch } = branchPlaceOf(agent);
      await store.write(async (tx) => {
        const now = await agentById(tx.db, agent.id);
        if (now === null || now.endedAt !== null) return;
        await recordKill(tx, { target: now, killer: await currentAgent(tx.db), cascade: false, reason: abandoned });
        tx.emit({ type: 'errand.abandoned', projectId: agent.projectId, agentId: agent.id, data: { branch } });
      });
      await reconciler.endSessions([agent.id]);
      await reconciler.inLane(agent.id, async () => {
        const dead = await agentById(store.db, agent.id);
        const state = dead?.worktreeEnd?.state ?? null;
        // The person asked for it, so uncommitted files do not retain the worktree; it can be restored from the trash.
        if (dead?.endReason === abandoned && (state === null || state === 'retained')) {
          await cleanUp(platform, dead, { insist: true });
        }
      });
      return { branch };
    },
  };
}
