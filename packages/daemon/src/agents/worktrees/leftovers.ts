import { listSnapshots } from '@pawl/git/snapshot/snapshot';
import { trashWorktree } from '@pawl/git/trash/trash';
import { findSession } from '@pawl/host/session/find-session';
import { processesIn } from '@pawl/host/process/process-directory';
import { stopSession } from '@pawl/host/session/stop-session';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import type { Project } from '@pawl/schema/record';
import { agentById, directoriesInUse } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import { sessionById } from '@pawl/store/sessions/sessions';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fixWorktrees } from './fix-record.ts';
import type { Platform } from '../../platform/platform.ts';
import { dropForkSnapshot, ownGitDirectory, repositoryOf, sessionDirectory } from '../../platform/platform.ts';

/** A directory among the worktrees that belongs to no registered agent. */
export type Orphan = {
  path: string;
  name: string;
  /** Null for a directory of agents with several projects or none: its repositories are not on record. */
  project: Project | null;
  inUse: boolean;
};

/** Finds orphaned worktrees below our own root. */
export async function orphanedWorktrees(platform: Platform): Promise<Orphan[]> {
  const found: Omit<Orphan, 'inUse'>[] = [];
  for (const project of await listProjects(platform.store.db)) {
    const root = join(platform.home.worktrees, project.name);
    for (const name of await directoriesIn(root)) found.push({ path: join(root, name), name, project });
  }
  for (const name of await directoriesIn(platform.home.agentWorkdirs))
    found.push({ path: join(platform.home.agentWorkdirs, name), name, project: null });
  // Read the registry last: a row precedes its directory, so every directory found has its row by now.
  const registered = await directoriesInUse(platform.store.db);
  for (const { path } of await fixWorktrees(platform.store.db)) registered.add(path);
  return found
    .filter(({ path, project }) => !registered.has(path) && (project === null || existsSync(project.root)))
    .map((orphan) => ({ ...orphan, inUse: processesIn(orphan.path).length > 0 }));
}

/** Moves an orphan to the trash; null if it is gone. */
export async function trashOrphan(platform: Platform, { path, name, project }: Orphan): Promise<string | null> {
  if (project === null) return null;
  const request = { path, trashDir: platform.home.trash, branch: `work/${name}`, at: Date.now() };
  return (await trashWorktree(await repositoryOf(platform, project), request))?.entry ?? null;
}

/** Running sessions that the registry does not know, as after restoring an older database. */
export async function unregisteredSessions(platform: Platform): Promise<string[]> {
  const unknown: string[] = [];
  for (const id of await directoriesIn(platform.home.sessions)) {
    if (!idSchema.safeParse(id).success || (await sessionById(platform.store.db, id)) !== null) continue;
    if ((await findSession(sessionDirectory(platform.home, id))).alive) unknown.push(id);
  }
  return unknown;
}

/** Ends the processes of an unknown session. Its worktree and output stay. */
export async function endUnregistered(platform: Platform, id: string): Promise<void> {
  const dir = sessionDirectory(platform.home, id);
  const { identity } = await findSession(dir);
  await stopSession(platform.host, { identity, dir, marker: id, graceMs: platform.timing.stopGraceMs });
}

async function directoriesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Deletes snapshots that no fork needs: their fork was interrupted, or has used them. */
export async function dropUnusedSnapshots(platform: Platform): Promise<void> {
  for (const project of await listProjects(platform.store.db)) {
    const ownDir = ownGitDirectory(platform.home, project.id);
    for (const name of await snapshotsIn(platform, ownDir)) {
      const agent = await agentById(platform.store.db, name);
      const wanted = agent !== null && agent.endedAt === null && agent.worktreeReadyAt === null;
      if (!wanted) await dropForkSnapshot(platform, project.id, name);
    }
  }
}

/** An unreadable directory must not stop the daemon from starting. */
async function snapshotsIn(platform: Platform, ownDir: string): Promise<string[]> {
  try {
    return await listSnapshots(ownDir);
  } catch (error) {
    platform.log.warn({ directory: ownDir, error: messageOf(error) }, 'failed to list snapshots of files');
    return [];
  }
}

/** Deletes what an interrupted restore or prune left in the trash. */
export async function finishTrash(platform: Platform): Promise<void> {
  for (const name of await directoriesIn(platform.home.trash)) {
    if (!/^\.(?:pruned|restored)-[A-Za-z0-9_-]+$/.test(name)) continue;
    await rm(join(platform.home.trash, name), { recursive: true, force: true }).catch((error: unknown) =>
      platform.log.warn({ entry: name, error: messageOf(error) }, 'failed to clean up the trash'),
    );
  }
}
