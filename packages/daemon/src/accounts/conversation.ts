import { hasErrno } from '@pawl/schema/error';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { accountLimits } from './account-limit.ts';

/** Session ids become part of file names, and come from a CLI's output. */
const safeSession = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,127}$/;

type Search = { root: string; left: number; found: Set<string> };

/** The files of a conversation below a config directory, as relative paths. */
export async function findConversation(root: string, globs: readonly string[], session: string): Promise<string[]> {
  if (!safeSession.test(session)) return [];
  const search: Search = { root, left: accountLimits.conversationEntries, found: new Set() };
  for (const glob of globs) {
    const path = glob.replaceAll('{session}', () => session).replaceAll('{short}', () => session.slice(0, 8));
    await follow(search, '', path.split('/'));
  }
  return [...search.found].toSorted();
}

/** Matches the rest of a pattern below a directory. Considers only real directories and plain files. */
async function follow(search: Search, at: string, [segment, ...rest]: string[]): Promise<void> {
  if (segment === undefined || segment === '..') return;
  if (segment === '**') await follow(search, at, rest);
  const pattern = segment === '**' ? /^/ : patternOf(segment);
  for (const entry of await entriesOf(join(search.root, at))) {
    search.left -= 1;
    if (search.left < 0) return;
    if (!pattern.test(entry.name)) continue;
    const path = at === '' ? entry.name : `${at}/${entry.name}`;
    if (entry.isDirectory()) {
      if (segment === '**') await follow(search, path, [segment, ...rest]);
      else if (rest.length > 0) await follow(search, path, rest);
    } else if (entry.isFile() && rest.length === 0) search.found.add(path);
  }
}

function patternOf(segment: string): RegExp {
  const words = segment.split('*').map((word) => word.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${words.join('[^/]*')}$`);
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return [];
    throw error;
  }
}

/**
 * Copies the files of a conversation to another config directory, replacing existing ones. On failure returns false,
 * and leaves the target unchanged except for unused files.
 */
export async function copyConversation(from: string, to: string, paths: readonly string[]): Promise<boolean> {
  const drafts: { draft: string; path: string }[] = [];
  let left: number = accountLimits.conversationBytes;
  try {
    for (const path of paths) {
      const target = join(to, path);
      if (!(await makeDirectories(to, dirname(path)))) return false;
      const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
      drafts.push({ draft, path: target });
      const copied = await copyPlainFile(join(from, path), draft, left);
      if (copied === null) return false;
      left -= copied;
    }
    for (const { draft, path } of drafts) await rename(draft, path);
    return true;
  } finally {
    for (const { draft } of drafts) await rm(draft, { force: true });
  }
}

/** Creates the directories of a relative path; false if something else, such as a link, is in the way. */
async function makeDirectories(root: string, path: string): Promise<boolean> {
  let at = root;
  for (const name of path === '.' ? [] : path.split('/')) {
    at = join(at, name);
    try {
      await mkdir(at, { mode: 0o700 });
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
      if (!(await lstat(at)).isDirectory()) return false;
    }
  }
  return true;
}

const blockBytes = 1024 * 1024;

/** Copies a plain file and returns its size; null if it is not one, or is larger than `room`. */
async function copyPlainFile(from: string, to: string, room: number): Promise<number | null> {
  let source: FileHandle;
  try {
    source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EACCES')) return null;
    throw error;
  }
  try {
    if (!(await source.stat()).isFile()) return null;
    const target = await open(to, 'wx', 0o600);
    try {
      const block = Buffer.allocUnsafe(blockBytes);
      for (let copied = 0; ;) {
        const { bytesRead } = await source.read(block, 0, blockBytes, null);
        if (bytesRead === 0) return copied;
        copied += bytesRead;
        if (copied > room) return null;
        await target.writeFile(block.subarray(0, bytesRead));
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
