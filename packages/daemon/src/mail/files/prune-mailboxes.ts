import { hasErrno } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { countPending, mailsByIds } from '@pawl/store/mail/mail';
import type { Database } from '@pawl/store/tables';
import { mkdir, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Platform } from '../../platform/platform.ts';
import { isDirectory, ownerOf } from './mailbox-directory.ts';

/** The directory for mailbox directories with foreign files. */
const archiveName = '.archive';

/**
 * Removes the mailbox directories of dead agents without undelivered mail, and of unknown agents. Deletes files that
 * mirror the table; archives a directory that contains anything else. Touches nothing outside the home's messages, and
 * follows no link. Returns the removed directories.
 */
export async function pruneMailboxes(platform: Platform): Promise<string[]> {
  const { home, store } = platform;
  const pruned: string[] = [];
  for (const project of await directoriesIn(home.messages)) {
    for (const name of await directoriesIn(join(home.messages, project))) {
      const { agent } = await ownerOf(store.db, project, name);
      if (agent !== null && agent.endedAt === null) continue;
      if (agent !== null && (await countPending(store.db, agent.id)) > 0) continue;
      const path = join(home.messages, project, name);
      await removeCopies(store.db, path);
      await removeOrArchive(platform, path);
      pruned.push(path);
      await store.write(async (tx) => {
        tx.emit({
          type: 'mailbox.pruned',
          agentId: agent?.id ?? null,
          projectId: agent?.projectId ?? null,
          data: { path },
        });
      });
    }
  }
  return pruned;
}

async function directoriesIn(path: string): Promise<string[]> {
  if (!(await isDirectory(path))) return [];
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
}

/** Deletes the files that mirror mails in the table, and leftover drafts. */
async function removeCopies(db: Database, path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const idOf = (name: string) => /^(?:\.(?=.*\.tmp$))?([\w-]{22})\.json(?:\.tmp)?$/.exec(name)?.[1] ?? '';
  for (let from = 0; from < names.length; from += batchFiles) {
    const batch = names.slice(from, from + batchFiles);
    const ids = batch.map(idOf).filter((id) => idSchema.safeParse(id).success);
    const known = new Set((await mailsByIds(db, ids)).map(({ id }) => id));
    for (const name of batch) if (known.has(idOf(name))) await unlink(join(path, name));
  }
}

const batchFiles = 200;

async function removeOrArchive({ home, clock }: Platform, path: string): Promise<void> {
  try {
    return await rmdir(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  const archive = join(home.messages, archiveName);
  await mkdir(archive, { recursive: true, mode: 0o700 });
  await rename(path, join(archive, `${relative(home.messages, path).replaceAll('/', '-')}-${clock()}`));
}
