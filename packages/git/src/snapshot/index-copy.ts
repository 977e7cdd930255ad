import { constants } from 'node:fs';
import { copyFile, lstat, open, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { runOnRawFiles, type RawView } from '../command/command.ts';

/** An index file: its bytes, and the times that identify it. */
export type FoundIndex = { bytes: Buffer; mtimeNs: bigint; identity: string };

/** Reads the index of a worktree, or null. Does not follow links, and does not lock. */
export async function readIndexFile(adminDir: string): Promise<FoundIndex | null> {
  const path = join(adminDir, 'index');
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw new PawlError('conflict', `${path} cannot be opened.`, { hint: 'It must be a plain file.', cause: error });
  }
  try {
    const info = await file.stat({ bigint: true });
    if (!info.isFile() || info.size > gitLimits.indexBytes) {
      throw new PawlError('too_large', `${path} is not a plain file of at most ${gitLimits.indexBytes} bytes.`, {
        hint: 'Look at it; a repository with so many files cannot be carried over.',
      });
    }
    const identity = [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ');
    return { bytes: await file.readFile(), mtimeNs: info.mtimeNs, identity };
  } finally {
    await file.close();
  }
}

/**
 * Writes a copy of an index to the view's index file, in git's simplest form: one file of version 2 or 3, with all
 * entries and without location-dependent caches. Keeps git's cached data about each file.
 */
export async function copyIndexPlainly(view: RawView, found: FoundIndex, adminDir: string): Promise<void> {
  if (found.bytes.includes('link')) await copySharedIndexes(adminDir, view.gitDir);
  // The copy is newer than the files, so git does not refresh its data about them.
  await writeFile(view.indexFile, found.bytes, { mode: 0o600 });
  await runOnRawFiles(view, ['update-index', '--index-version', '2', '--force-write-index']);
}

/** A split index refers to a shared one beside it. */
async function copySharedIndexes(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (!/^sharedindex\.[0-9a-f]{40,64}$/.test(name)) continue;
    const info = await lstat(join(from, name)).catch(() => null);
    if (info?.isFile() && info.size <= gitLimits.indexBytes) await copyFile(join(from, name), join(to, name));
  }
}
