import { judgeCleanUp } from '@pawl/core/agents/clean-up';
import type { Place } from '@pawl/schema/place';
import { deleteBranchAt } from '@pawl/git/repository/branch';
import { listTrash } from '@pawl/git/trash/trash-list';
import { trashWorktree } from '@pawl/git/trash/trash';
import { removeEmpty, trashDirectory } from '@pawl/git/trash/trash-directory';
import { worktreeWork } from '@pawl/git/worktree/worktree-work';
import { processesIn } from '@pawl/host/process/process-directory';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, WorktreeEnd } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { placesOfAgent } from '@pawl/store/agents/places';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { placesOf, updateWorktree, workingDirectory } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { dropForkSnapshot, ownGitDirectory, placeOf, projectOf, repositoryOf } from '../../platform/platform.ts';

/** The end of a worktree; the transaction adds the time. */
type Ending = { end: WithoutTime<WorktreeEnd>; event: Pick<NewEvent, 'type' | 'data'> };
type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;

/** `insist` moves uncommitted work to the trash too, from where it can be restored: a person asked for it. */
type Request = { insist?: boolean };

/**
 * Settles a dead agent's directories: moves each worktree to the trash if git has everything in it, and otherwise keeps
 * and flags it, also if that is unknown. The directory of an agent without a project goes to the trash whole. The first
 * project's worktree comes last, since it marks the agent as cleaned up.
 */
export async function cleanUp(platform: Platform, agent: Agent, request: Request = {}): Promise<WorktreeEnd['state']> {
  const [first = { agent, extra: null }, ...others] = await placesOf(platform.store.db, agent);
  for (const other of others) {
    if (isSettled(other)) continue;
    await cleanUpPlace(platform, other, request);
    crashPoint('cleanup.after_place');
  }
  return isSettled(first) ? (first.agent.worktreeEnd?.state ?? 'missing') : cleanUpPlace(platform, first, request);
}

/** False for a worktree to examine: for the first time, or again because it was kept. */
function isSettled({ agent: { worktreeEnd } }: Place): boolean {
  return worktreeEnd !== null && worktreeEnd.state !== 'retained';
}

/** Settles one worktree of a dead agent, or the directory of one without a project. */
export async function cleanUpPlace(
  platform: Platform,
  place: Place,
  request: Request = {},
): Promise<WorktreeEnd['state']> {
  const { agent } = place;
  let ending: Ending;
  try {
    const settle = agent.projectId === null ? settleWorkspace : settleWorktree;
    ending = await settle(platform, agent, request);
    await trashEmptied(platform, agent);
  } catch (error) {
    if (isPassing(error)) throw error;
    ending = retained(agent.worktree ?? '', messageOf(error));
  }
  crashPoint('cleanup.after_trash');
  const { end } = ending;
  // Kept for the same reason as before: nothing to record.
  const known = agent.worktreeEnd;
  if (end.state === 'retained' && known?.state === 'retained' && known.reason === end.reason) return end.state;
  await platform.store.write(async (tx) => {
    await updateWorktree(tx, place, { worktreeEnd: { ...end, at: tx.now } });
    tx.emit({ projectId: agent.projectId, agentId: agent.id, ...ending.event } as NewEvent);
  });
  crashPoint('cleanup.after_commit');
  return end.state;
}

/** Moves the directory above an agent's worktrees to the trash once it has none left. */
async function trashEmptied(platform: Platform, agent: Agent): Promise<void> {
  if (agent.workdir === null) return;
  const paths = [agent.worktree, (await agentById(platform.store.db, agent.id))?.worktree ?? null];
  paths.push(...(await placesOfAgent(platform.store.db, agent.id)).map(({ path }) => path));
  if (paths.some((path) => path !== null && existsSync(path))) return;
  await trashDirectory({ path: agent.workdir, trashDir: platform.home.trash, at: Date.now() });
}

/**
 * Settles the directory of an agent without a project: its files exist nowhere else, so it goes to the trash and is
 * never deleted.
 */
async function settleWorkspace(platform: Platform, agent: Agent): Promise<Ending> {
  const path = workingDirectory(agent);
  const { length: processes } = processesIn(path);
  if (processes > 0) return retained(path, `${processes} processes still work in it`);
  const moved = await trashDirectory({ path, trashDir: platform.home.trash, at: Date.now() });
  await removeEmpty(dirname(path));
  return ended(path, moved?.note.name ?? (await trashedBefore(platform, agent)), false);
}

/** Judges what would happen to a worktree now, without acting. */
export async function judgeWorktree(platform: Platform, agent: Agent, { insist = false }: Request = {}) {
  const place = placeOf(agent);
  const project = await projectOf(platform.store, agent);
  const repository = await repositoryOf(platform, project);
  const found = await worktreeWork(repository, { ownDir: ownGitDirectory(platform.home, project.id), ...place });
  // An incomplete worktree was never used: apparent changes are files that were not checked out yet.
  const harmless = found.state === 'dirty' && (insist || agent.worktreeReadyAt === null);
  const work = harmless ? { ...found, state: 'unpushed' as const } : found;
  // A process in the directory above may be working in all of them.
  const verdict = judgeCleanUp({ ...work, processes: processesIn(agent.workdir ?? place.path).length });
  return { place, project, repository, work, verdict };
}

async function settleWorktree(platform: Platform, agent: Agent, request: Request): Promise<Ending> {
  const { place, project, repository, work, verdict } = await judgeWorktree(platform, agent, request);
  if (verdict.do === 'retain') return retained(place.path, verdict.reason);
  const trash = { ...place, trashDir: platform.home.trash, at: Date.now(), dirty: work.changed + work.untracked };
  // Even if nothing seems to be there: this completes an interrupted move.
  const trashed = (await trashWorktree(repository, trash))?.note.name ?? (await trashedBefore(platform, agent));
  const { tip } = work;
  const branchDeleted =
    (verdict.do === 'note-missing' || verdict.deleteBranch || agent.worktreeReadyAt === null) &&
    tip !== null &&
    place.branch !== null &&
    tip === place.base &&
    (await deleteBranchAt(repository, { branch: place.branch, commit: tip }));
  if (agent.snapshot !== null) await dropForkSnapshot(platform, project.id, agent.id);
  return ended(place.path, trashed, branchDeleted);
}

function ended(path: string, entry: string | null, branchDeleted: boolean): Ending {
  if (entry === null) return { end: { state: 'missing' }, event: { type: 'worktree.missing', data: { path } } };
  return {
    end: { state: 'trashed', entry },
    event: { type: 'worktree.trashed', data: { path, entry, branchDeleted } },
  };
}

/** The trash entry that an earlier daemon made of this worktree, just before it died. */
async function trashedBefore(platform: Platform, agent: Agent): Promise<string | null> {
  const since = agent.endedAt ?? Infinity;
  // An agent that died under this daemon has no such entry.
  if (since >= platform.startedAt) return null;
  const entries = await listTrash(platform.home.trash);
  const entry = entries.find(({ note }) => note !== null && note.path === agent.worktree && note.at >= since);
  return entry?.name ?? null;
}

function retained(path: string, reason: string): Ending {
  return { end: { state: 'retained', reason }, event: { type: 'worktree.retained', data: { path, reason } } };
}
