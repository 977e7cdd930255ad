import { judgeCleanUp } from '@pawl/core/clean-up';
import { deleteBranchAt } from '@pawl/git/branch';
import { dropSnapshot } from '@pawl/git/snapshot';
import { listTrash } from '@pawl/git/trash-list';
import { trashWorktree } from '@pawl/git/trash';
import { worktreeWork } from '@pawl/git/worktree-work';
import { processesIn } from '@pawl/host/process-directory';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, WorktreeEnd } from '@pawl/schema/record';
import { updateAgent } from '@pawl/store/agents';
import type { Workshop } from '../workshop.ts';
import { ownGitDirectory, placeOf, projectOf, repositoryOf } from '../workshop.ts';

/** An end of a worktree without its time, which the transaction gives. */
type Ending = { end: WithoutTime<WorktreeEnd>; event: Pick<NewEvent, 'type' | 'data'> };
type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;

/**
 * Settles what becomes of a dead agent's worktree: to the trash when it holds nothing that git does not have, kept and
 * flagged otherwise. Whatever cannot be found out keeps it where it is.
 */
export async function cleanUp(shop: Workshop, agent: Agent): Promise<void> {
  const { path } = placeOf(agent);
  let ending: Ending;
  try {
    ending = await settleWorktree(shop, agent);
  } catch (error) {
    if (isPassing(error)) throw error;
    ending = retained(path, messageOf(error));
  }
  crashPoint('cleanup.after_trash');
  // One that is kept for the reason it was kept for before is no news.
  const { end } = ending;
  const known = agent.worktreeEnd;
  if (end.state === 'retained' && known?.state === 'retained' && known.reason === end.reason) return;
  await shop.store.write(async (tx) => {
    await updateAgent(tx, agent.id, { worktreeEnd: { ...end, at: tx.now } });
    tx.emit({ projectId: agent.projectId, agentId: agent.id, ...ending.event } as NewEvent);
  });
  crashPoint('cleanup.after_commit');
}

async function settleWorktree(shop: Workshop, agent: Agent): Promise<Ending> {
  const place = placeOf(agent);
  const project = await projectOf(shop.store, agent);
  const repository = await repositoryOf(shop, project);
  const ownDir = ownGitDirectory(shop.home, project.id);
  if (agent.snapshot !== null) await dropSnapshot(ownDir, agent.id);
  const work = await worktreeWork(repository, { ownDir, ...place });
  const verdict = judgeCleanUp({ ...work, processes: processesIn(place.path).length });
  if (verdict.do === 'retain') return retained(place.path, verdict.reason);
  const request = { ...place, trashDir: shop.home.trash, at: Date.now(), dirty: work.changed + work.untracked };
  // Also where nothing seems to be there: an earlier move that was cut short is finished by this one.
  const trashed = (await trashWorktree(repository, request))?.note.name ?? (await trashedBefore(shop, agent));
  const { tip } = work;
  const branchDeleted =
    (verdict.do === 'note-missing' || verdict.deleteBranch) &&
    tip !== null &&
    tip === place.base &&
    (await deleteBranchAt(repository, { branch: place.branch, commit: tip }));
  if (trashed === null) {
    return { end: { state: 'missing' }, event: { type: 'worktree.missing', data: { path: place.path } } };
  }
  return {
    end: { state: 'trashed', entry: trashed },
    event: { type: 'worktree.trashed', data: { path: place.path, entry: trashed, branchDeleted } },
  };
}

/** The entry that an earlier daemon made of this worktree, just before it died. */
async function trashedBefore(shop: Workshop, agent: Agent): Promise<string | null> {
  const since = agent.endedAt ?? Infinity;
  const entries = await listTrash(shop.home.trash);
  const entry = entries.find(({ note }) => note !== null && note.path === agent.worktree && note.at >= since);
  return entry?.name ?? null;
}

function retained(path: string, reason: string): Ending {
  return { end: { state: 'retained', reason }, event: { type: 'worktree.retained', data: { path, reason } } };
}
