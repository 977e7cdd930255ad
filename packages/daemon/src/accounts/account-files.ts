import { hasErrno, PawlError } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { accountLimits } from './account-limit.ts';
import { problemAt, readBoundedFile, syncDirectory, writePrivateFile } from './private-file.ts';

/**
 * The files of one account:
 *   accounts/<id>/secret.json   0600  { env: { NAME: value } }
 *   accounts/<id>/directory/    0700  the CLI's own config directory
 * They are created under a temporary name and renamed before the row is written. So a directory without a row is left
 * over from an interrupted addition.
 */
export type AccountFiles = {
  /** The directory of an account's files. */
  place(id: string): string;
  /** The CLI's config directory of an account. */
  directory(id: string): string;
  /** Creates the files of a new account: its secrets, and what `fill` writes to its config directory. */
  create(id: string, env: Record<string, string>, fill: (directory: string) => Promise<void>): Promise<void>;
  /** The file with the secrets of an account. */
  secretFile(id: string): string;
  /** The secrets of an account by variable name. Throws if the files are missing or readable by others. */
  readSecrets(id: string): Promise<Record<string, string>>;
  /** Why an account's files cannot be used, or null. */
  problem(id: string): Promise<string | null>;
  remove(id: string): Promise<void>;
  /** The accounts that have files, and drafts left by interrupted additions. */
  list(): Promise<{ accounts: string[]; drafts: string[] }>;
  removeDraft(name: string): Promise<void>;
};

/** Hooks for tests between the steps of an addition. */
export type AccountStep = 'directory' | 'rename' | 'row';

const secretSchema = z.object({ env: z.record(z.string(), z.string()) });
const draftPrefix = '.new-';

export function accountFiles(root: string, atStep: (step: AccountStep) => void = () => {}): AccountFiles {
  const place = (id: string) => join(root, id);
  const secretFile = (id: string) => join(place(id), 'secret.json');

  async function problem(id: string): Promise<string | null> {
    const parts = [
      [place(id), 'directory', 'its directory'],
      [secretFile(id), 'file', 'its secret.json'],
    ] as const;
    for (const [path, kind, name] of parts) {
      const found = await problemAt(path, kind);
      if (found !== null) return `${name} ${found}`;
    }
    return null;
  }

  return {
    place,
    directory: (id) => join(place(id), 'directory'),
    secretFile,
    problem,
    async create(id, env, fill) {
      const draft = join(root, `${draftPrefix}${id}`);
      await mkdir(join(draft, 'directory'), { recursive: true, mode: 0o700 });
      try {
        await writePrivateFile(join(draft, 'secret.json'), `${JSON.stringify({ env })}\n`);
        await fill(join(draft, 'directory'));
        atStep('directory');
        await rename(draft, place(id));
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
      await syncDirectory(root);
      atStep('rename');
    },
    async readSecrets(id) {
      const found = await problem(id);
      const text = found === null ? await readBoundedFile(secretFile(id), accountLimits.secretFileBytes) : null;
      const secrets = text === null ? null : parseSecrets(text);
      if (secrets !== null) return secrets;
      throw new PawlError('conflict', `The account's files cannot be used: ${found ?? 'its secret.json is damaged'}.`, {
        hint: 'Remove the account with `pawl account rm`, and add it again.',
      });
    },
    remove: (id) => rm(place(id), { recursive: true, force: true }),
    async list() {
      const names = await readdir(root).catch((error: unknown) => {
        if (hasErrno(error, 'ENOENT')) return [];
        throw error;
      });
      return {
        accounts: names.filter((name) => idSchema.safeParse(name).success),
        drafts: names.filter((name) => name.startsWith(draftPrefix)),
      };
    },
    removeDraft: (name) => rm(join(root, name), { recursive: true, force: true }),
  };
}

function parseSecrets(text: string): Record<string, string> | null {
  try {
    return secretSchema.parse(JSON.parse(text)).env;
  } catch {
    // The parse error could quote the secret, so drop it.
    return null;
  }
}
