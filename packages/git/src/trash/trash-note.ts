import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { gitLimits } from '../command/limit.ts';
import { readPointer } from '../repository/pointer-file.ts';

const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** The one alphabet for names in the trash; it has no dots, so unfinished things can have names of their own. */
const entryName = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);

const noteSchema = z.object({
  version: z.literal(1),
  name: entryName,
  path: z.string().max(4096),
  branch: z.string().max(1024),
  /** What HEAD was: a branch, or the commit of a detached HEAD. */
  head: z.string().max(1024),
  /** The commit of HEAD. Null when there was none, or when the note is older than this field. */
  commit: commitId.nullable().default(null),
  /** How many uncommitted files were known. Null when nobody had counted. */
  dirty: z.number().int().nonnegative().nullable().default(null),
  /** Empty for a plain directory, which belongs to no repository. */
  repository: z.string().max(4096),
  at: z.number(),
});

/** What lies in the trash, as its `note.json` says. */
export type TrashNote = z.infer<typeof noteSchema>;

/** True for a note of a plain directory, which belongs to no repository. */
export function isPlainNote(note: TrashNote): boolean {
  return note.repository === '';
}

/** Returns the name when it can be that of an entry; a name from outside must pass here. */
export function checkEntryName(name: string): string {
  if (entryName.safeParse(name).success) return name;
  throw new PawlError('invalid_input', `${JSON.stringify(name.slice(0, 80))} cannot be the name of an entry.`, {
    hint: 'Names in the trash have letters, digits, - and _ only. List them first.',
  });
}

/** True for the name of a finished entry. */
export function isEntryName(name: string): boolean {
  return entryName.safeParse(name).success;
}

/** Writes the note of an entry, complete or not at all. */
export async function writeNote(entry: string, note: TrashNote): Promise<void> {
  const file = join(entry, 'note.json');
  await writeFile(`${file}.draft`, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.draft`, file);
}

/** Reads the note of an entry; null when it is missing or says something else than a note says. */
export async function readNote(entry: string): Promise<TrashNote | null> {
  const text = await readPointer(join(entry, 'note.json'), gitLimits.noteBytes);
  if (text === null) return null;
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Reads the note of an entry that cannot be handled without one. */
export async function requireNote(entry: string): Promise<TrashNote> {
  const note = await readNote(entry);
  if (note !== null) return note;
  throw new PawlError('conflict', `${entry}/note.json cannot be read.`, {
    hint: 'What lies there is complete; put the directory `files` back by hand, or move it aside.',
  });
}
