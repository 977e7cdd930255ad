import { groupBase, sweepGroups } from '@pawl/host/session/control-group';
import { sweepLimitGroups } from '@pawl/host/session/limit-group';
import { crashPoint } from '@pawl/schema/crash-point';
import type { SessionPlatform } from './accounts/session-platform.ts';
import { createAgents } from './agents/agents.ts';
import { createBarrier } from './agents/barrier.ts';
import { createSelection } from './agents/selection.ts';
import { finishMerges } from './agents/errands/errand-merge.ts';
import { createSignals } from './agents/signals.ts';
import { dropUnusedSnapshots, finishTrash } from './agents/worktrees/leftovers.ts';
import { changesOfAgents } from './changes/agent-changes.ts';
import { createDoctor } from './door/doctor.ts';
import { openMail } from './mail/mail.ts';
import { createProjectCrews } from './projects/project-crew.ts';
import { createInbox } from './questions/inbox.ts';
import { createQuestionWaits } from './questions/question-waits.ts';
import { createQuestions } from './questions/questions.ts';
import type { ProxyRoom } from './proxy/proxy.ts';
import { finishCheckouts } from './queue/finish-checkouts.ts';
import { createMergeQueues } from './queue/merge-queues.ts';
import { finishRefreshes } from './queue/refresh-worktree.ts';
import { startReconciler } from './sessions/reconcile/reconciler.ts';
import { openRuntime } from './runtime/runtime.ts';
import { createAdoption } from './supervision/adopted.ts';
import { requeueDead } from './tasks/tasks.ts';

export type Rooms = ReturnType<typeof openRooms>;

/** Creates the rooms, lower ones first. They listen from here on; nothing is adopted yet. */
export function openRooms(platform: SessionPlatform, proxy: ProxyRoom) {
  const reconciler = startReconciler(platform);
  const agents = createAgents(platform, reconciler, changesOfAgents);
  const signals = createSignals(platform, reconciler);
  const mailRoom = openMail(platform, reconciler);
  const questions = createQuestions(platform, createQuestionWaits());
  const barrier = createBarrier(platform.store, reconciler.ingest);
  return {
    platform,
    proxy,
    reconciler,
    agents,
    signals,
    mailRoom,
    questions,
    inbox: createInbox(platform, questions, signals),
    adoption: createAdoption(platform),
    runtime: openRuntime(platform, reconciler),
    mergeQueues: createMergeQueues(platform, reconciler),
    barrier,
    selection: createSelection(platform, agents),
    doctor: createDoctor(platform, reconciler),
    crews: createProjectCrews(platform, { agents, reconciler, barrier }),
  };
}

/** Completes what an earlier daemon left unfinished, and adopts what still runs. */
export async function recover({
  platform,
  proxy,
  reconciler,
  mailRoom,
  mergeQueues,
}: Rooms): Promise<{ adopted: number; ended: number }> {
  await dropUnusedSnapshots(platform);
  await finishTrash(platform);
  sweepGroups(groupBase());
  sweepLimitGroups();
  await platform.accounts.settle();
  await proxy.settle();
  await finishMerges(platform);
  await finishCheckouts(platform);
  await finishRefreshes(platform);
  await requeueDead(platform.store);
  const found = await reconciler.adopt();
  crashPoint('restart.after_adopt');
  await mailRoom.sweep();
  await mergeQueues.begin();
  return found;
}
