import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Repository } from '../repository/repository.ts';

/** Chooses the directory of git's record of a worktree: the name in its `.git` file if free, else a similar one. */
export async function freeAdminDir(repository: Repository, pointer: string): Promise<string> {
  const target = /^gitdir: (.+)$/.exec(pointer)?.[1] ?? '';
  const id = basename(target).replaceAll(/[^A-Za-z0-9_-]/g, '-') || 'worktree';
  const worktrees = join(repository.commonDir, 'worktrees');
  const taken = new Set(await readdir(worktrees).catch(() => []));
  for (let number = 0; ; number += 1) {
    const name = number === 0 ? id : `${id}${number}`;
    if (!taken.has(name)) return join(worktrees, name);
  }
}

/** Writes a small file by a rename, so that a link in its place is replaced, not followed. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.pawl-draft`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { flag: 'wx' });
  await rename(draft, path);
}
