import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';
import { isEntryName, readNote, writeNote, type TrashNote } from './trash-note.ts';

export type TrashEntry = {
  name: string;
  /** The directory that it is. */
  entry: string;
  /** Null when it cannot be read; the files may be whole nevertheless. */
  note: TrashNote | null;
  /** What the entry takes on disk. Only when it was asked for, and when there are not too many files to add up. */
  bytes?: number;
};

/** What lies in the trash, oldest first, broken entries last. Moves that were not finished are not listed. */
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

/** Writes the new place of a repository into the notes of its worktrees in the trash; repeated, it changes nothing. */
export async function moveTrashNotes(trashDir: string, from: string, to: string): Promise<void> {
  for (const { entry, note } of await listTrash(trashDir))
    if (note?.repository === from) await writeNote(entry, { ...note, repository: to });
}

async function describe(trashDir: string, name: string, sizes: boolean): Promise<TrashEntry> {
  const entry = join(trashDir, name);
  const note = await readNote(entry).catch(() => null);
  const bytes = sizes ? await sizeOf(entry) : null;
  // A note under another's name was copied there by somebody.
  return { name, entry, note: note?.name === name ? note : null, ...(bytes === null ? {} : { bytes }) };
}

/** The sum of all file sizes, without following links; null when there is too much, or something cannot be read. */
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
