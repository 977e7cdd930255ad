import { hasErrno } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Signal } from '@pawl/schema/signal';
import { parseSignal } from '@pawl/schema/signal';
import { constants } from 'node:fs';
import { open, readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

const signalPath = join('.pawl', 'output', 'signal.json');

/** How many entries of a worktree are searched for a signal that was written one directory too deep. */
const probedEntries = 200;

export type FoundSignal = {
  signal: Signal;
  path: string;
  writtenAtMs: number;
  /** False if it was written one directory too deep. */
  isPlaced: boolean;
};

/**
 * Reads the agent's report on how its work ended. It belongs in `.pawl/output/` of the agent's working directory;
 * agents that changed directory write it one level deeper, so those directories are probed too, its projects' worktrees
 * first, and the newest valid one wins. A file that is partial, huge, a symlink or a directory is ignored.
 */
export async function readSignal(worktree: string, projects: readonly string[] = []): Promise<FoundSignal | null> {
  const found: FoundSignal[] = [];
  for (const path of await signalPlaces(worktree, projects)) {
    const signal = await readPlace(path);
    if (signal !== null && (await isInside(worktree, path)))
      found.push({ ...signal, isPlaced: path === join(worktree, signalPath) });
  }
  return found.toSorted((a, b) => b.writtenAtMs - a.writtenAtMs)[0] ?? null;
}

/** Reads the signal from its proper path only: cheap enough to poll while an agent runs. */
export async function readPlacedSignal(worktree: string): Promise<FoundSignal | null> {
  const path = join(worktree, signalPath);
  const signal = await readPlace(path);
  return signal !== null && (await isInside(worktree, path)) ? { ...signal, isPlaced: true } : null;
}

/** Removes all signals, so that the next session is not judged by an old one. */
export async function clearSignals(worktree: string, projects: readonly string[] = []): Promise<void> {
  for (const path of await signalPlaces(worktree, projects)) {
    if (await isInside(worktree, path)) await rm(path, { recursive: true, force: true });
  }
}

async function signalPlaces(worktree: string, projects: readonly string[]): Promise<string[]> {
  const places = new Set([worktree, join(worktree, 'workspace'), ...projects].map((path) => join(path, signalPath)));
  try {
    const entries = await readdir(worktree, { withFileTypes: true });
    for (const entry of entries.slice(0, probedEntries)) {
      if (entry.isDirectory() && entry.name !== '.pawl' && entry.name !== '.git') {
        places.add(join(worktree, entry.name, signalPath));
      }
    }
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error;
  }
  return [...places];
}

/** False if a symbolic link leads out of the worktree, or if nothing exists there. */
async function isInside(worktree: string, path: string): Promise<boolean> {
  try {
    const [root, directory] = await Promise.all([realpath(worktree), realpath(dirname(path))]);
    return directory.startsWith(root + sep);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return false;
    throw error;
  }
}

async function readPlace(path: string): Promise<Omit<FoundSignal, 'isPlaced'> | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > limits.signalBytes) return null;
    const parsed = parseSignal(await file.readFile('utf8'));
    return parsed.ok ? { signal: parsed.signal, path, writtenAtMs: stat.mtimeMs } : null;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'EACCES')) return null;
    throw error;
  }
}
