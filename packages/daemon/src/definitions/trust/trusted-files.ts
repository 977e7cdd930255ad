import { getSetting, setSetting } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';
import { trustLimits } from './trust-limit.ts';

/** Per project, which definition files a person trusts, and with which text: one that changes is trusted no more. */
const definitionsSchema = z.record(z.string(), z.string()).catch({});
/** The same for settings, by their paths in the repository: worktrees of different branches may have different ones. */
const settingsSchema = z.record(z.string(), z.array(z.string())).catch({});

const definitionsKey = (projectId: string) => `trust:${projectId}`;
const settingsKey = (projectId: string) => `trusted-settings:${projectId}`;

/** The definition files that are trusted, each by its whole path with the hash of its text. */
export async function trustedDefinitions(db: Database, projectId: string): Promise<Record<string, string>> {
  return definitionsSchema.parse(await getSetting(db, definitionsKey(projectId)));
}

/** The settings files that are trusted, each by its path in the repository with the hashes of its contents. */
export async function trustedSettings(db: Database, projectId: string): Promise<Record<string, string[]>> {
  return settingsSchema.parse(await getSetting(db, settingsKey(projectId)));
}

/** Trusts exactly these definition files. */
export async function trustDefinitions(
  tx: WriteTransaction,
  projectId: string,
  files: { path: string; sha256: string }[],
): Promise<void> {
  await setSetting(tx, definitionsKey(projectId), Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])));
}

/** Trusts these contents of settings files beside those that are trusted already. */
export async function trustSettings(
  tx: WriteTransaction,
  projectId: string,
  files: { path: string; sha256: string }[],
): Promise<void> {
  const known = new Map(Object.entries(await trustedSettings(tx.db, projectId)));
  for (const { path, sha256 } of files) {
    const others = (known.get(path) ?? []).filter((each) => each !== sha256);
    // Taken out and put in again, so that what was trusted last is the last to be forgotten.
    known.delete(path);
    known.set(path, [...others, sha256].slice(-trustLimits.contentsPerFile));
  }
  const remembered = [...known].slice(-trustLimits.rememberedFiles);
  await setSetting(tx, settingsKey(projectId), Object.fromEntries(remembered));
}

/** Trusts nothing of a project any more. */
export async function distrust(tx: WriteTransaction, projectId: string): Promise<void> {
  await setSetting(tx, definitionsKey(projectId), {});
  await setSetting(tx, settingsKey(projectId), {});
}
