import type { InputFile } from '@pawl/core/sessions/input-files';
import { PawlError } from '@pawl/schema/error';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes `.pawl/input/` into a worktree, in the given order, each file by rename. The last file (the manifest) vouches
 * for the others: while it exists, all of them are complete, so an old one is removed first. It is safe to repeat after
 * a crash. The worktree is untrusted: a `.pawl` that is a symlink would lead the files out of it and is refused.
 */
export async function writeInput(worktree: string, files: InputFile[]): Promise<void> {
  for (const directory of ['.pawl', join('.pawl', 'input'), join('.pawl', 'output')]) {
    await plainDirectory(worktree, directory);
  }
  const input = join('.pawl', 'input');
  const last = files.at(-1);
  if (last !== undefined) await rm(join(worktree, input, last.path), { recursive: true, force: true });
  // Remove the background files of an earlier run.
  await rm(join(worktree, input, 'context'), { recursive: true, force: true });
  for (const file of files) {
    const folders = dirname(file.path) === '.' ? [] : dirname(file.path).split('/');
    for (const index of folders.keys()) await plainDirectory(worktree, join(input, ...folders.slice(0, index + 1)));
    const path = join(worktree, input, file.path);
    // Never write through whatever the repository has at this name, such as a link.
    await rm(`${path}.tmp`, { recursive: true, force: true });
    await writeFile(`${path}.tmp`, file.content, { mode: 0o600, flag: 'wx' });
    await rm(path, { recursive: true, force: true });
    await rename(`${path}.tmp`, path);
  }
}

/** Creates a directory of the worktree, or refuses what is there instead. */
async function plainDirectory(worktree: string, directory: string): Promise<void> {
  const path = join(worktree, directory);
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await lstat(path)).isDirectory()) return;
  throw new PawlError('conflict', `${directory} in the worktree is not a plain directory.`, {
    hint: 'The repository has something else committed at that path; remove it there.',
  });
}
