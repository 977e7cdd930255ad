import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { gitLimits } from '../command/limit.ts';
import { readPointer } from '../repository/pointer-file.ts';

const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** Names in the trash; without dots, so that unfinished entries can have distinct names. */
const entryName = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);

const noteSchema = z.object({
  version: z.literal(1),
  name: entryName,
  path: z.string().max(4096),
  branch: z.string().max(1024),
  /** HEAD: a branch, or the commit of a detached HEAD. */
  head: z.string().max(1024),
  /** The commit of HEAD. Null if there was none, or the note predates this field. */
  commit: commitId.nullable().default(null),
  /** Number of uncommitted files; null if unknown. */
  dirty: z.number().int().nonnegative().nullable().default(null),
  /** Empty for a plain directory. */
  repository: z.string().max(4096),
  at: z.number(),
});

/** The content of an entry's `note.json`. */
export type TrashNote = z.infer<typeof noteSchema>;

/** True for a plain directory without a repository. */
export function isPlainNote(note: TrashNote): boolean {
  return note.repository === '';
}

/** Validates an entry name from outside. */
export function checkEntryName(name: string): string {
  if (entryName.safeParse(name).success) return name;
  throw new PawlError('invalid_input', `${JSON.stringify(name.slice(0, 80))} cannot be the name of a trash entry.`, {
    hint: 'Names in the trash have letters, digits, - and _ only. List them first.',
  });
}

/** True for the name of a finished entry. */
export function isEntryName(name: string): boolean {
  return entryName.safeParse(name).success;
}

/** Writes the note of an entry atomically. */
export async function writeNote(entry: string, note: TrashNote): Promise<void> {
  const file = join(entry, 'note.json');
  await writeFile(`${file}.draft`, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.draft`, file);
}

/** Reads the note of an entry; null if it is missing or invalid. */
export async function readNote(entry: string): Promise<TrashNote | null> {
  const text = await readPointer(join(entry, 'note.json'), gitLimits.noteBytes);
  if (text === null) return null;
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Reads the note of an entry, or throws. */
export async function requireNote(entry: string): Promise<TrashNote> {
  const note = await readNote(entry);
  if (note !== null) return note;
  throw new PawlError('conflict', `${entry}/note.json cannot be read.`, {
    hint: 'The files there are complete; move the directory `files` back by hand, or move it aside.',
  });
}
