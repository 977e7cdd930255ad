import { judgeCleanUp } from '@pawl/core/clean-up';
import { deleteBranchAt } from '@pawl/git/branch';
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
import { dropQuietly, ownGitDirectory, placeOf, projectOf, repositoryOf } from '../workshop.ts';

/** An end of a worktree without its time, which the transaction gives. */
type Ending = { end: WithoutTime<WorktreeEnd>; event: Pick<NewEvent, 'type' | 'data'> };
type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;

/** `insist` takes uncommitted work along to the trash, from where it can be taken back: a person asked for it. */
type Request = { insist?: boolean };

/**
 * Settles what becomes of a dead agent's worktree: to the trash when it holds nothing that git does not have, kept and
 * flagged otherwise. Whatever cannot be found out keeps it where it is.
 */
export async function cleanUp(shop: Workshop, agent: Agent, request: Request = {}): Promise<WorktreeEnd['state']> {
  const { path } = placeOf(agent);
  let ending: Ending;
  try {
    ending = await settleWorktree(shop, agent, request);
  } catch (error) {
    if (isPassing(error)) throw error;
    ending = retained(path, messageOf(error));
  }
  crashPoint('cleanup.after_trash');
  const { end } = ending;
  // One that is kept for the reason it was kept for before is no news.
  const known = agent.worktreeEnd;
  if (end.state === 'retained' && known?.state === 'retained' && known.reason === end.reason) return end.state;
  await shop.store.write(async (tx) => {
    await updateAgent(tx, agent.id, { worktreeEnd: { ...end, at: tx.now } });
    tx.emit({ projectId: agent.projectId, agentId: agent.id, ...ending.event } as NewEvent);
  });
  crashPoint('cleanup.after_commit');
  return end.state;
}

/** What would become of a worktree now, without doing anything about it. */
export async function judgeWorktree(shop: Workshop, agent: Agent, { insist = false }: Request = {}) {
  const place = placeOf(agent);
  const project = await projectOf(shop.store, agent);
  const repository = await repositoryOf(shop, project);
  const found = await worktreeWork(repository, { ownDir: ownGitDirectory(shop.home, project.id), ...place });
  // Nobody ever worked in one that was not finished: what seems to be changed in it was not written yet.
  const harmless = found.state === 'dirty' && (insist || agent.worktreeReadyAt === null);
  const work = harmless ? { ...found, state: 'unpushed' as const } : found;
  const verdict = judgeCleanUp({ ...work, processes: processesIn(place.path).length });
  return { place, project, repository, work, verdict };
}

async function settleWorktree(shop: Workshop, agent: Agent, request: Request): Promise<Ending> {
  const { place, project, repository, work, verdict } = await judgeWorktree(shop, agent, request);
  if (verdict.do === 'retain') return retained(place.path, verdict.reason);
  const trash = { ...place, trashDir: shop.home.trash, at: Date.now(), dirty: work.changed + work.untracked };
  // Also where nothing seems to be there: an earlier move that was cut short is finished by this one.
  const trashed = (await trashWorktree(repository, trash))?.note.name ?? (await trashedBefore(shop, agent));
  const { tip } = work;
  const branchDeleted =
    (verdict.do === 'note-missing' || verdict.deleteBranch || agent.worktreeReadyAt === null) &&
    tip !== null &&
    place.branch !== null &&
    tip === place.base &&
    (await deleteBranchAt(repository, { branch: place.branch, commit: tip }));
  if (agent.snapshot !== null) await dropQuietly(shop, project.id, agent.id);
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
  // Whoever died under this daemon has not met an earlier one.
  if (since >= shop.startedAt) return null;
  const entries = await listTrash(shop.home.trash);
  const entry = entries.find(({ note }) => note !== null && note.path === agent.worktree && note.at >= since);
  return entry?.name ?? null;
}

function retained(path: string, reason: string): Ending {
  return { end: { state: 'retained', reason }, event: { type: 'worktree.retained', data: { path, reason } } };
}
