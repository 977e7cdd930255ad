import { removeWhole } from '@pawl/git/trash/remove-whole';
import { readSmallFile } from '@pawl/host/session/session-files';
import type { Home } from '@pawl/protocol/node/home';
import { checkOutcomes } from '@pawl/schema/change';
import { hasErrno } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { checkLimits } from './check-limit.ts';

/** The directories of a check, removed once its result is recorded. */
export type CheckPlace = {
  dir: string;
  tree: string;
  temporary: string;
  /** The session directory of a step. */
  step(no: number): string;
};

export function checkPlace(home: Home, checkId: string): CheckPlace {
  const dir = join(home.checks, checkId);
  return { dir, tree: join(dir, 'tree'), temporary: join(dir, 'tmp'), step: (no) => join(dir, `step-${no}`) };
}

/** Facts beyond its row that another daemon needs to continue a check. */
const requestSchema = z.object({ env: z.array(z.string()) });

/** Creates the directory of a check, with the names of the variables that it may see. */
export async function makeCheckPlace({ dir, temporary }: CheckPlace, env: readonly string[]): Promise<void> {
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await writeNote(dir, 'request.json', requestSchema.parse({ env }));
}

/** The names of the variables that a check may see; none if its note is lost. */
export function namesFor({ dir }: CheckPlace): string[] {
  return readNote(dir, 'request.json', requestSchema)?.env ?? [];
}

/** How a check ends that we end ourselves. */
export type Ending = z.infer<typeof endingSchema>;
const endingSchema = z.object({ outcome: z.enum(checkOutcomes).exclude(['passed']), detail: z.string() });

/**
 * Records that a check is about to be ended, and why, before its processes are signalled: if one then exits with code
 * 0, the check has not passed, even if the daemon dies in between.
 */
export async function noteEnding({ dir }: CheckPlace, ending: Ending): Promise<void> {
  await writeNote(dir, 'ending.json', ending);
}

/** Why a check was being ended when the last daemon stopped, or null. */
export function notedEnding({ dir }: CheckPlace): Ending | null {
  return readNote(dir, 'ending.json', endingSchema);
}

async function writeNote(dir: string, name: string, note: unknown): Promise<void> {
  const draft = join(dir, `${name}.new`);
  await writeFile(draft, JSON.stringify(note), { mode: 0o600 });
  await rename(draft, join(dir, name));
}

/** Checks run as the same user, and may have written here: an invalid note counts as missing. */
function readNote<Note>(dir: string, name: string, schema: z.ZodType<Note>): Note | null {
  const text = readSmallFile(join(dir, name), checkLimits.noteBytes);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The checks that have a directory. */
export async function placedChecks(home: Home): Promise<string[]> {
  try {
    return (await readdir(home.checks)).filter((name) => idSchema.safeParse(name).success);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Removes the large parts of an ended check; its output stays. */
export async function freePlace({ tree, temporary }: CheckPlace): Promise<void> {
  await removeWhole(tree);
  await removeWhole(temporary);
}
