import { json, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';
import { trustLimits } from './trust-limit.ts';

/** The trusted definition files of a project with their hashes; a changed file is no longer trusted. */
const definitions = factTable('trusted_definitions', ['projectId'], {
  projectId: text,
  files: json(z.record(z.string(), z.string()).catch({})),
});
/** The trusted settings by path in the repository; worktrees on different branches may differ. */
const settings = factTable('trusted_settings', ['projectId'], {
  projectId: text,
  files: json(z.record(z.string(), z.array(z.string())).catch({})),
});

/** The trusted definition files: hash by absolute path. */
export async function trustedDefinitions(db: Database, projectId: string): Promise<Record<string, string>> {
  return (await definitions.get(db, { projectId }))?.files ?? {};
}

/** The trusted settings files: hashes by path in the repository. */
export async function trustedSettings(db: Database, projectId: string): Promise<Record<string, string[]>> {
  return (await settings.get(db, { projectId }))?.files ?? {};
}

/** Trusts exactly these definition files. */
export async function trustDefinitions(
  tx: WriteTransaction,
  projectId: string,
  files: { path: string; sha256: string }[],
): Promise<void> {
  const hashes = Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));
  await definitions.set(tx, { projectId, files: hashes });
}

/** Trusts these contents of settings files in addition to those trusted already. */
export async function trustSettings(
  tx: WriteTransaction,
  projectId: string,
  files: { path: string; sha256: string }[],
): Promise<void> {
  const known = new Map(Object.entries(await trustedSettings(tx.db, projectId)));
  for (const { path, sha256 } of files) {
    const others = (known.get(path) ?? []).filter((each) => each !== sha256);
    // Delete and insert again, so that the most recently trusted is dropped last.
    known.delete(path);
    known.set(path, [...others, sha256].slice(-trustLimits.contentsPerFile));
  }
  const remembered = [...known].slice(-trustLimits.rememberedFiles);
  await settings.set(tx, { projectId, files: Object.fromEntries(remembered) });
}

/** Revokes all trust in a project. */
export async function distrust(tx: WriteTransaction, projectId: string): Promise<void> {
  await definitions.delete(tx, { projectId });
  await settings.delete(tx, { projectId });
}
