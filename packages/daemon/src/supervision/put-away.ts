import { judgeCleanUp } from '@pawl/core/agents/clean-up';
import { worktreeWork } from '@pawl/git/worktree/worktree-work';
import { hasErrno, messageOf } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Project } from '@pawl/schema/record';
import { hasBodyFile } from '@pawl/store/mail/mail';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Orphan } from '../agents/worktrees/leftovers.ts';
import { orphanedWorktrees, trashOrphan } from '../agents/worktrees/leftovers.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';

/**
 * Moves orphaned worktrees to the trash: only those in our own directory that git knows as a worktree of the project,
 * are clean, have no process in them, and were untouched for a day. If any of this is unknown, it stays for `pawl
 * doctor` to report.
 */
export async function putAwayOrphans(platform: Platform, now: number): Promise<void> {
  for (const orphan of await orphanedWorktrees(platform)) {
    const { project } = orphan;
    // Only a person knows the repositories in the directory of an agent with several projects.
    if (project === null) continue;
    try {
      if (orphan.inUse || !(await isOld(orphan.path, now)) || !(await isDispensable(platform, orphan, project)))
        continue;
      const entry = await trashOrphan(platform, orphan);
      if (entry === null) continue;
      const data = { path: orphan.path, entry, branchDeleted: false };
      await platform.store.write(async (tx) => {
        tx.emit({ type: 'worktree.trashed', projectId: project.id, data });
      });
    } catch (error) {
      platform.log.warn({ path: orphan.path, error: messageOf(error) }, 'failed to remove an orphaned worktree');
    }
  }
}

async function isDispensable(platform: Platform, { path, name }: Orphan, project: Project): Promise<boolean> {
  const ownDir = ownGitDirectory(platform.home, project.id);
  // Its base is unknown, so compare its commits with the other branches only.
  const request = { ownDir, path, branch: `work/${name}`, base: '' };
  const work = await worktreeWork(await repositoryOf(platform, project), request);
  return judgeCleanUp({ ...work, processes: 0 }).do === 'trash';
}

/** Removes the bodies of long mails whose sender died before the mail was stored. */
export async function putAwaySpills(platform: Platform, now: number): Promise<void> {
  for (const name of await filesIn(platform.home.mail)) {
    const id = /^([\w-]{22})\.txt(?:\.new)?$/.exec(name)?.[1];
    if (id === undefined || !idSchema.safeParse(id).success) continue;
    const path = join(platform.home.mail, name);
    if (!(await isOld(path, now))) continue;
    if (name.endsWith('.new') || !(await hasBodyFile(platform.store.db, name))) await rm(path, { force: true });
  }
}

/** True if nothing at a path, or directly in it, has been touched for a day. Follows no link. */
async function isOld(path: string, now: number): Promise<boolean> {
  const times = [(await lstat(path)).mtimeMs];
  for (const name of await namesIn(path)) times.push((await lstat(join(path, name))).mtimeMs);
  return times.every((time) => now - time >= limits.leftoverMs);
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR')) return [];
    throw error;
  }
}
