import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { runInOwnRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import type { Repository } from '../repository/repository.ts';

/**
 * Repacks Pawl's own git directory if it has grown; false if there was nothing to do. Drops no object, reachable or
 * not: rebuilt chains, running checks and retried changes find all they had. Safe to call at any time; others may read
 * and write meanwhile.
 */
export async function tidyOwnDirectory(
  repository: Repository,
  ownDir: string,
  { objects, packs }: { objects: number; packs: number } = {
    objects: gitLimits.tidyObjects,
    packs: gitLimits.tidyPacks,
  },
): Promise<boolean> {
  await ensureOwnDirectory(repository, ownDir);
  return withLock(`tidy:${ownDir}`, async () => {
    const found = await whatIsThere(join(ownDir, 'objects'));
    await removeLeftOvers(found.drafts);
    if (found.objects < objects && found.packs < packs) return false;
    // Geometric: each pack is at least twice as large as all smaller ones, so packed objects are seldom rewritten. The
    // user's objects are not visible here, since objects that exist there as well must stay.
    await runInOwnRepository(ownDir, [], ['repack', '--geometric=2', '-d', '-q']);
    return true;
  });
}

type Gathered = { objects: number; packs: number; drafts: string[] };

/** Counts loose objects and packs, and lists unfinished files. */
async function whatIsThere(objectsDir: string): Promise<Gathered> {
  const found: Gathered = { objects: 0, packs: 0, drafts: [] };
  for (const directory of await readdir(objectsDir)) {
    if (directory !== 'pack' && !/^[0-9a-f]{2}$/.test(directory)) continue;
    for (const name of await namesIn(join(objectsDir, directory))) {
      if (/^\.?tmp[-_]/.test(name)) found.drafts.push(join(objectsDir, directory, name));
      else if (directory !== 'pack') found.objects += 1;
      else if (name.endsWith('.pack')) found.packs += 1;
    }
  }
  return found;
}

/** A killed git leaves unfinished files. No file is being written for a whole day. */
async function removeLeftOvers(drafts: readonly string[]): Promise<void> {
  for (const path of drafts) {
    const info = await lstat(path).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > gitLimits.scratchMs) await rm(path, { force: true });
  }
}

/** Git removes an object directory once it is empty. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
