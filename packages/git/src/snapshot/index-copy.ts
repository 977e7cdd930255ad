import { constants } from 'node:fs';
import { copyFile, lstat, open, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { runOnRawFiles, type RawView } from '../command/command.ts';

/** An index as it was found: its bytes, and the times by which it is known again. */
export type FoundIndex = { bytes: Buffer; mtimeNs: bigint; identity: string };

/** Reads the index of a worktree, or returns null when there is none. Links are not followed, and it is not locked. */
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
      throw new PawlError('too_large', `${path} is no plain file of at most ${gitLimits.indexBytes} bytes.`, {
        hint: 'Look at it; a repository with so many files cannot be carried.',
      });
    }
    const identity = [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ');
    return { bytes: await file.readFile(), mtimeNs: info.mtimeNs, identity };
  } finally {
    await file.close();
  }
}

/**
 * Puts a copy of an index at the view's index file, in git's simplest form: one file of version 2 or 3, with every
 * entry in it and without the caches that belong to the place where it was. What git knew of each file stays in it.
 */
export async function copyIndexPlainly(view: RawView, found: FoundIndex, adminDir: string): Promise<void> {
  if (found.bytes.includes('link')) await copySharedIndexes(adminDir, view.gitDir);
  // The copy is younger than the files, so git does not compare those with it and change what it says of them.
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
