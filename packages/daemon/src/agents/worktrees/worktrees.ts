import type { PruneAnswer, WorktreeView } from '@pawl/protocol/agents/worktrees/view';
import { pruneTrash } from '@pawl/git/trash/prune';
import { restoreWorktree } from '@pawl/git/trash/restore';
import { restoreDirectory } from '@pawl/git/trash/trash-directory';
import { isPlainNote } from '@pawl/git/trash/trash-note';
import type { TrashEntry } from '@pawl/git/trash/trash-list';
import { listTrash } from '@pawl/git/trash/trash-list';
import { isAtRest, isDoneWithTask } from '@pawl/core/supervision/leaving';
import type { Place } from '@pawl/schema/place';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent, Project, WorktreeEnd } from '@pawl/schema/record';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { listProjects, projectByRoot } from '@pawl/store/projects/projects';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';
import { cleanUpPlace, judgeWorktree } from '../../sessions/reconcile/clean-up.ts';
import { updateWorktree } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { repositoryOf } from '../../platform/platform.ts';
import { listFixWorktrees, trashFixWorktrees } from './fix-worktrees.ts';
import { placeInTrash, placesThere } from '../../platform/kept-places.ts';
import { whyItStays } from '../leaving-facts.ts';
import { orphanedWorktrees } from './leftovers.ts';

/** All our worktrees: in use, kept, in the trash, or orphaned. */
export async function listWorktrees(platform: Platform): Promise<WorktreeView[]> {
  const projects = new Map((await listProjects(platform.store.db)).map((project) => [project.id, project]));
  const places = await placesThere(platform);
  const waiting = await reasonsToStay(platform);
  const trash = await listTrash(platform.home.trash);
  return [
    ...places.map(({ agent }) => viewOfAgent(agent, projects, waiting.get(agent.id))),
    ...trash.map((entry) => viewOfTrash(entry, projects)),
    ...(await listFixWorktrees(platform, projects)),
    ...(await orphanedWorktrees(platform)).map(({ path, name, project, inUse }) => ({
      state: 'orphan' as const,
      path,
      project: project?.name ?? null,
      agent: null,
      branch: project === null ? null : `work/${name}`,
      detail: inUse ? 'belongs to no agent, but a process works in it' : 'belongs to no agent',
      entry: null,
      at: null,
    })),
  ];
}

/** Restores a worktree from the trash. */
export async function restoreFromTrash(platform: Platform, name: string): Promise<{ path: string }> {
  const entry = (await listTrash(platform.home.trash)).find((each) => each.name === name);
  if (entry === undefined || entry.note === null) {
    throw new PawlError('not_found', `There is nothing in the trash called ${JSON.stringify(name.slice(0, 80))}.`, {
      hint: 'See `pawl worktree ls`.',
    });
  }
  const isPlain = isPlainNote(entry.note);
  const project = isPlain ? null : await projectByRoot(platform.store.db, entry.note.repository);
  if (project === null && !isPlain) {
    throw new PawlError('project_not_found', `${entry.note.repository} is not a project.`, {
      hint: 'Run `pawl init` there first.',
    });
  }
  // Update the registry first: if it says "restored" while the files are still in the trash, the restore can be
  // repeated.
  const place = await placeInTrash(platform, name);
  if (place !== null) await noteEnd(platform, place, (at) => ({ state: 'restored', at }));
  const path = await putBack(platform, project, name).catch(async (error: unknown) => {
    if (place !== null) await noteEnd(platform, place, (at) => ({ state: 'trashed', entry: name, at }));
    throw error;
  });
  await platform.store.write(async (tx) => {
    const about = { projectId: project?.id ?? null, agentId: place?.agent.id ?? null };
    tx.emit({ type: 'worktree.restored', ...about, data: { path, entry: name } });
  });
  return { path };
}

/** Restores an entry: a worktree of a project, or a plain directory. */
async function putBack(platform: Platform, project: Project | null, name: string): Promise<string> {
  if (project === null) return (await restoreDirectory({ trashDir: platform.home.trash, name })).path;
  const repository = await repositoryOf(platform, project);
  return (await restoreWorktree(repository, { trashDir: platform.home.trash, name })).path;
}

async function noteEnd(platform: Platform, place: Place, end: (at: number) => WorktreeEnd): Promise<void> {
  await platform.store.write((tx) => updateWorktree(tx, place, { worktreeEnd: end(tx.now) }));
}

/**
 * Deletes old trash entries permanently. Keeps those with uncommitted work unless forced, and then archives it first.
 * Also moves kept worktrees to the trash: those that are clean now or, if forced, all.
 */
export async function pruneWorktrees(
  platform: Platform,
  reconciler: Reconciler,
  request: { olderThanMs: number; force: boolean; dryRun: boolean },
): Promise<PruneAnswer> {
  const answer: PruneAnswer = { pruned: [], kept: [], trashed: [] };
  const now = Date.now();
  for (const entry of await listTrash(platform.home.trash)) {
    const reason = whyKept(entry, now, request);
    if (reason !== null) {
      answer.kept.push({ entry: entry.name, reason });
      continue;
    }
    try {
      if (!request.dryRun) await pruneEntry(platform, entry);
      answer.pruned.push(entry.name);
    } catch (error) {
      answer.kept.push({ entry: entry.name, reason: messageOf(error) });
    }
  }
  answer.trashed.push(...(await trashRetained(platform, reconciler, request)));
  answer.trashed.push(...(await trashFixWorktrees(platform, request)));
  return answer;
}

function whyKept(entry: TrashEntry, now: number, request: { olderThanMs: number; force: boolean }): string | null {
  if (entry.note === null) return request.force ? null : 'its note cannot be read; --force deletes it anyway';
  if (now - entry.note.at < request.olderThanMs) return 'it is not old enough';
  const { dirty } = entry.note;
  return (dirty === null || dirty > 0) && !request.force
    ? 'it may hold uncommitted work; --force puts that into an archive and deletes it'
    : null;
}

async function pruneEntry(platform: Platform, { name, note }: TrashEntry): Promise<void> {
  const project = note === null ? null : await projectByRoot(platform.store.db, note.repository);
  const repository = project === null ? null : await repositoryOf(platform, project).catch(() => null);
  await pruneTrash(repository, { trashDir: platform.home.trash, name, archiveTo: platform.home.archive });
  const place = await placeInTrash(platform, name);
  await platform.store.write(async (tx) => {
    if (place !== null) await updateWorktree(tx, place, { worktreeEnd: { state: 'missing', at: tx.now } });
    const about = { projectId: project?.id ?? null, agentId: place?.agent.id ?? null };
    tx.emit({ type: 'worktree.pruned', ...about, data: { entry: name } });
  });
}

/** Re-examines the kept worktrees of dead agents and moves removable ones to the trash, or lists them in a dry run. */
async function trashRetained(
  platform: Platform,
  reconciler: Reconciler,
  { force: insist, dryRun }: { force: boolean; dryRun: boolean },
): Promise<string[]> {
  const trashed: string[] = [];
  for (const place of await placesThere(platform)) {
    const { agent } = place;
    if (agent.endedAt === null || agent.worktree === null || agent.worktreeEnd?.state !== 'retained') continue;
    const goes = dryRun
      ? (await judgeWorktree(platform, agent, { insist }).catch(() => null))?.verdict.do === 'trash'
      : (await reconciler.inLane(agent.id, () => cleanUpPlace(platform, place, { insist }))) === 'trashed';
    if (goes) trashed.push(agent.worktree);
  }
  return trashed;
}

/** Why each idle agent still has its worktree. */
async function reasonsToStay(platform: Platform): Promise<Map<string, string>> {
  const { db } = platform.store;
  const reasons = new Map<string, string>();
  for (const view of await everyLivingAgent(db)) {
    if (!isAtRest(view)) continue;
    const reason = (await whyItStays(db, view, platform.clock())) ?? 'about to be cleaned up';
    reasons.set(view.agent.id, isDoneWithTask(view) ? `done; ${reason}` : reason);
  }
  return reasons;
}

function viewOfAgent(agent: Agent, projects: Map<string, Project>, waiting = ''): WorktreeView {
  const end = agent.worktreeEnd;
  return {
    state: end === null ? 'in-use' : end.state === 'restored' ? 'retained' : end.state,
    path: agent.worktree ?? '',
    project: projects.get(agent.projectId ?? '')?.name ?? null,
    agent: { id: agent.id, alias: agent.alias },
    branch: agent.branch,
    detail: detailOf(agent) || waiting,
    entry: null,
    at: end?.at ?? agent.worktreeReadyAt,
  };
}

function detailOf({ endedAt, worktreeEnd }: Agent): string {
  if (worktreeEnd === null) return endedAt === null ? '' : 'its agent is dead; about to be settled';
  if (worktreeEnd.state === 'retained') return worktreeEnd.reason;
  return worktreeEnd.state === 'restored' ? 'restored from the trash' : '';
}

function viewOfTrash({ name, entry, note }: TrashEntry, projects: Map<string, Project>): WorktreeView {
  const project = [...projects.values()].find(({ root }) => root === note?.repository);
  return {
    state: 'trashed',
    path: note?.path ?? entry,
    project: project?.name ?? null,
    agent: null,
    branch: note?.branch ?? null,
    detail: note === null ? 'its note cannot be read' : '',
    entry: name,
    at: note?.at ?? null,
  };
}
