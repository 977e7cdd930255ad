import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { runInOwnRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import type { Repository } from '../repository/repository.ts';

/**
 * Packs what has gathered in Pawl's own git directory, when it is much; false when there was nothing to do. No object is
 * ever dropped, whether anything leads to it or not: a chain that is built again, a check that runs, a change that is tried
 * again find all they had. It may be called at any time; others go on reading and writing meanwhile.
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
    // Each pack is to be at least twice as large as all smaller ones: so what is packed already is seldom written anew. The
    // user's objects are not at hand, for what is there as well has to stay here all the same.
    await runInOwnRepository(ownDir, [], ['repack', '--geometric=2', '-d', '-q']);
    return true;
  });
}

type Gathered = { objects: number; packs: number; drafts: string[] };

/** Counts single objects and packs, and names the files that are not finished yet. */
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

/** A git that was killed leaves what it was writing. Nobody writes on one file for a whole day. */
async function removeLeftOvers(drafts: readonly string[]): Promise<void> {
  for (const path of drafts) {
    const info = await lstat(path).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > gitLimits.scratchMs) await rm(path, { force: true });
  }
}

/** Git removes a directory of objects when the last one has gone. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
