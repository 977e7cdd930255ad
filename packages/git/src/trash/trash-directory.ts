import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { withLock } from '../command/lock.ts';
import { isThere, moveDirectory } from '../worktree/move.ts';
import { canonicalPath } from '../worktree/registration.ts';
import { removeRemains, restoringMark } from './restore.ts';
import { checkEntryName, isPlainNote, requireNote, writeNote, type TrashNote } from './trash-note.ts';

/** Written by Pawl itself, so a directory with nothing else contains no work. */
const ownEntry = '.pawl';

/**
 * Moves a plain directory, not a worktree, to the trash. Deletes nothing; the next call finishes an interrupted one.
 * Returns null if there is nothing.
 */
export async function trashDirectory(request: {
  path: string;
  trashDir: string;
  at: number;
}): Promise<{ entry: string; note: TrashNote } | null> {
  const path = await canonicalPath(request.path);
  const key = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const draft = join(request.trashDir, `.draft-${key}`);
  return withLock(`worktree:${path}`, async () => {
    const isBegun = await isThere(join(draft, 'note.json'));
    if (!isBegun && !(await isThere(path))) return null;
    if ((await isThere(path)) && !(await lstat(path)).isDirectory()) {
      throw new PawlError('conflict', `${path} is no longer a directory.`, { hint: 'Look at it and move it aside.' });
    }
    const note = isBegun ? await requireNote(draft) : await newNote({ ...request, path });
    if (!isBegun) {
      await mkdir(draft, { recursive: true, mode: 0o700 });
      await writeNote(draft, note);
    }
    const isMoved = await isThere(join(draft, 'files'));
    const aside = join(dirname(path), `.pawl-trash-${key}`);
    await moveDirectory({ from: isMoved ? null : path, to: join(draft, 'files'), aside });
    const entry = join(request.trashDir, note.name);
    await rename(draft, entry);
    return { entry, note };
  });
}

/** Restores a plain directory from the trash. Refuses if its path is taken. */
export async function restoreDirectory(request: { trashDir: string; name: string }): Promise<{ path: string }> {
  const entry = join(request.trashDir, checkEntryName(request.name));
  return withLock(`trash:${entry}`, async () => {
    const note = await requireNote(entry);
    if (!isPlainNote(note)) throw new PawlError('conflict', `${note.name} is a worktree of ${note.repository}.`);
    const path = await canonicalPath(note.path);
    if (!(await isThere(join(entry, restoringMark)))) {
      if (await isThere(path)) {
        throw new PawlError('conflict', `${path} is in use, so nothing can be restored there.`, {
          hint: 'Move away what is there, then restore again.',
        });
      }
      await writeFile(join(entry, restoringMark), '');
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await moveDirectory({ from: join(entry, 'files'), to: path, aside: join(entry, 'files-aside') });
    const finished = join(request.trashDir, `.restored-${request.name}`);
    await rename(entry, finished);
    await removeRemains(finished);
    return { path };
  });
}

/** Removes a directory if it is empty. */
export async function removeEmpty(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
  });
}

async function newNote({ path, at }: { path: string; at: number }): Promise<TrashNote> {
  const label = `${basename(dirname(path))}-${basename(path)}`.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);
  const entries = (await readdir(path)).filter((name) => name !== ownEntry);
  return {
    version: 1,
    name: `${label}-${at}-${randomBytes(4).toString('hex')}`,
    path,
    branch: '',
    head: '',
    commit: null,
    // No commit has any of it.
    dirty: entries.length,
    repository: '',
    at,
  };
}
