import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { isEntryName, readNote, writeNote, type TrashNote } from './trash-note.ts';

export type TrashEntry = {
  name: string;
  entry: string;
  /** Null if unreadable; the files may still be intact. */
  note: TrashNote | null;
  /** Size on disk. Only on request, and if there are not too many files. */
  bytes?: number;
};

/** The trash, oldest first, broken entries last. Excludes unfinished moves. */
export async function listTrash(trashDir: string, { sizes = false } = {}): Promise<TrashEntry[]> {
  const found = await readdir(trashDir, { withFileTypes: true }).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  const entries: TrashEntry[] = [];
  for (const { name } of found.filter((item) => item.isDirectory() && isEntryName(item.name))) {
    if (entries.length >= gitLimits.trashEntries) break;
    entries.push(await describe(trashDir, name, sizes));
  }
  return entries.sort((one, other) => (one.note?.at ?? Infinity) - (other.note?.at ?? Infinity) || byName(one, other));
}

/** Updates a repository's path in the notes of its trashed worktrees; idempotent. */
export async function moveTrashNotes(trashDir: string, from: string, to: string): Promise<void> {
  for (const { entry, note } of await listTrash(trashDir))
    if (note?.repository === from) await writeNote(entry, { ...note, repository: to });
}

async function describe(trashDir: string, name: string, sizes: boolean): Promise<TrashEntry> {
  const entry = join(trashDir, name);
  const note = await readNote(entry).catch(() => null);
  const bytes = sizes ? await sizeOf(entry) : null;
  // The note was copied from another entry.
  return { name, entry, note: note?.name === name ? note : null, ...(bytes === null ? {} : { bytes }) };
}

/** The sum of all file sizes, without following links; null if there are too many, or something is unreadable. */
async function sizeOf(root: string): Promise<number | null> {
  const waiting = [root];
  let bytes = 0;
  let seen = 0;
  try {
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      for (const item of await readdir(directory, { withFileTypes: true })) {
        seen += 1;
        if (seen > gitLimits.trashSizeFiles) return null;
        const path = join(directory, item.name);
        if (item.isDirectory()) waiting.push(path);
        else bytes += (await lstat(path)).size;
      }
    }
    return bytes;
  } catch {
    return null;
  }
}

function byName(one: TrashEntry, other: TrashEntry): number {
  return one.name < other.name ? -1 : 1;
}
