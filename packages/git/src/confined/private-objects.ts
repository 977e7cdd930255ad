import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { replaceFile } from '../worktree/admin-directory.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { copyLooseObject } from './copy-loose-object.ts';
import { readPointer } from '../repository/pointer-file.ts';
import type { Repository } from '../repository/repository.ts';
import { objectsDirOf } from '../repository/repository.ts';

/**
 * The objects that one sandboxed agent writes, apart from the repository's own. While it works, the directory is an
 * alternate of the repository, so that its commits are visible at once. It has loose objects only: git looks for an
 * object in packs and in the repository first, so none of them can replace one that is already there.
 */
export type PrivateObjects = {
  path: string;
  /** An empty directory, in whose place a sandbox shows the repository's objects. */
  shared: string;
};

function privateObjects(repository: Repository, name: string): PrivateObjects {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) throw new PawlError('internal', `${name} is no name of objects`);
  const place = join(repository.commonDir, 'pawl');
  return { path: join(place, 'objects', name), shared: join(place, 'shared') };
}

/** Creates the private objects of an agent, and makes them visible to the repository. Repeatable. */
export async function makePrivateObjects(repository: Repository, name: string): Promise<PrivateObjects> {
  const objects = privateObjects(repository, name);
  if (/[\n"]/.test(objects.path)) {
    throw new PawlError('conflict', `The path ${repository.commonDir} has a character that git's alternates lack.`, {
      hint: 'Move the repository to a path without quotes and line breaks, or set `sandbox: off`.',
    });
  }
  for (const path of [join(objects.path, 'pack'), join(objects.path, 'info'), objects.shared])
    await mkdir(path, { recursive: true });
  await replaceFile(join(objects.path, 'info', 'alternates'), `${objects.shared}\n`);
  await editAlternates(repository, (lines) => [...lines.filter((line) => line !== objects.path), objects.path]);
  return objects;
}

/**
 * Moves an agent's objects into the repository, when nothing of the agent runs. Each is rehashed, and one whose content
 * does not have its name is refused; then the directory stays. Repeatable after a crash at any step.
 */
export async function foldPrivateObjects(repository: Repository, name: string): Promise<{ refused: string[] }> {
  const { path } = privateObjects(repository, name);
  const folders = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  });
  if (folders === null) return { refused: [] };
  const refused: string[] = [];
  // A link in place of a folder would lead to files of others.
  const fanOut = folders.filter((each) => each.isDirectory() && /^[0-9a-f]{2}$/.test(each.name));
  for (const { name: folder } of fanOut) {
    for (const file of await readdir(join(path, folder)).catch(() => [])) {
      const id = `${folder}${file}`;
      const isObject = id.length === (repository.objectFormat === 'sha1' ? 40 : 64) && /^[0-9a-f]+$/.test(id);
      // Others are drafts that git left when it was killed.
      const isCopied = !isObject || (await copyLooseObject(path, objectsDirOf(repository), id));
      if (isCopied) await rm(join(path, folder, file), { force: true, recursive: true });
      else refused.push(id);
    }
  }
  if (refused.length > 0) return { refused };
  await editAlternates(repository, (lines) => lines.filter((line) => line !== path));
  await rm(path, { recursive: true, force: true });
  await rmdir(join(path, '..')).catch(() => undefined);
  return { refused };
}

/** Rewrites the repository's list of further object directories. Another program's lines stay. */
async function editAlternates(repository: Repository, edit: (lines: string[]) => string[]): Promise<void> {
  const path = join(objectsDirOf(repository), 'info', 'alternates');
  await withLock(`alternates:${repository.commonDir}`, async () => {
    await mkdir(join(path, '..'), { recursive: true });
    const before = (await readPointer(path, gitLimits.excludeBytes))?.split('\n').filter((line) => line !== '') ?? [];
    const after = edit(before);
    if (after.join('\n') === before.join('\n')) return;
    if (after.length === 0) await rm(path, { force: true });
    else await replaceFile(path, `${after.join('\n')}\n`);
  });
}
