import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { gitLimits } from '../command/limit.ts';

/**
 * Waits until no git of an earlier daemon works on this worktree. Killing a daemon does not kill its git: it keeps
 * writing files, and removes the directory again if it fails. If processes cannot be listed, only `removeAbandonedLock`
 * protects.
 */
export async function waitForEarlierGit(path: string, daemon = process.execPath): Promise<void> {
  const deadline = performance.now() + limits.gitMs;
  while (await isGitAtWork(path, daemon)) {
    if (performance.now() > deadline) {
      throw new PawlError('timeout', `An earlier git command is still working on ${path}.`, {
        hint: 'See `ps` for a git process that names this path, and end it.',
      });
    }
    await delay(gitLimits.leftoverPollMs);
  }
}

/** True if git failed because another command holds the index. */
export function isIndexLocked(error: unknown): boolean {
  return error instanceof PawlError && /index\.lock': File exists/.test(String(error.details['stderr']));
}

/** Removes the `index.lock` of a killed git. If its holder is unknown, waits first while it is recent. */
export async function removeAbandonedLock(adminDir: string): Promise<void> {
  const lock = join(adminDir, 'index.lock');
  for (;;) {
    const info = await lstat(lock).catch(() => null);
    if (info === null) return;
    const ageMs = Date.now() - info.mtimeMs;
    // After the clock was set back, a file may be from the future; it counts as old.
    if (process.platform === 'linux' || ageMs < 0 || ageMs > gitLimits.abandonedLockMs) {
      return rm(lock, { force: true });
    }
    await delay(gitLimits.leftoverPollMs);
  }
}

/** Removes a lock that git holds for milliseconds if it is seconds old; a newer one stays. */
export async function removeOldLock(lock: string): Promise<void> {
  const info = await lstat(lock).catch(() => null);
  if (info === null) return;
  const ageMs = Date.now() - info.mtimeMs;
  if (ageMs < 0 || ageMs > gitLimits.oldLockMs) await rm(lock, { force: true });
}

/** True if a running git names this worktree on its command line, as ours always do, or if one is about to start. */
async function isGitAtWork(path: string, daemon: string): Promise<boolean> {
  const entries = await readdir('/proc').catch(() => []);
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    const name = await readProcess(entry, 'comm');
    if (name !== 'git\n') {
      if (await isOrphanedFork(entry, daemon)) return true;
      continue;
    }
    const words = (await readProcess(entry, 'cmdline')).split('\0');
    if (words.includes(path) || words.includes(`--work-tree=${path}`)) return true;
  }
  return false;
}

/**
 * True for a child that a daemon forked before it was killed, and that has not yet become git: it still shows the
 * daemon's program, but has a single thread, and its parent is another program. A starting program may look like that
 * for a moment.
 */
async function isOrphanedFork(pid: string, daemon: string): Promise<boolean> {
  if ((await programOf(pid)) !== daemon) return false;
  // State, parent, …: the fields after the name in parentheses.
  const fields = (await readProcess(pid, 'stat')).split(') ').at(-1)?.split(' ') ?? [];
  return fields[17] === '1' && (await programOf(fields[1] ?? '')) !== daemon;
}

async function programOf(pid: string): Promise<string | null> {
  return readlink(`/proc/${pid}/exe`).catch(() => null);
}

async function readProcess(pid: string, file: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    // The process has exited, or belongs to another user.
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return '';
    throw error;
  }
}
