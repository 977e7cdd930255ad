import { join } from 'node:path';
import { runInOwnRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { commitAt, objectsDirOf, type Repository } from './repository.ts';
import { findRegistration, canonicalPath } from '../worktree/registration.ts';
import { withScratch } from '../command/scratch.ts';
import { treeOfWork } from '../worktree/work-tree.ts';
import { PawlError } from '@pawl/schema/error';

export type DiffFile = {
  path: string;
  /** Its previous name, if it was renamed. */
  from: string | null;
  /** Lines; null for a binary file. */
  added: number | null;
  removed: number | null;
};

export type BranchDiff = { files: DiffFile[]; patch: string; truncated: boolean };

/**
 * The changes of a branch since its base, including uncommitted ones if the worktree exists. Computed in Pawl's own git
 * directory: no driver, filter or converter of a repository runs.
 */
export async function diffBranch(
  repository: Repository,
  request: { ownDir: string; path: string; branch: string; base: string },
): Promise<BranchDiff> {
  const { ownDir, base } = request;
  await ensureOwnDirectory(repository, ownDir);
  const path = await canonicalPath(request.path);
  const registration = await findRegistration(repository, path);
  return withScratch(ownDir, async (scratch) => {
    const objectsDir = join(scratch, 'objects');
    const end =
      registration === null
        ? await commitAt(repository, `refs/heads/${request.branch}`)
        : await treeOfWork(repository, { ownDir, path, adminDir: registration.adminDir, objectsDir, scratch });
    if (end === null) {
      throw new PawlError('not_found', `Neither the worktree nor the branch ${request.branch} exists any more.`, {
        hint: 'See `pawl worktree ls` for the trash.',
      });
    }
    return diffTrees(ownDir, [objectsDirOf(repository), ...(registration === null ? [] : [objectsDir])], base, end);
  });
}

/** Diffs two commits or trees whose objects are in Pawl's own git directory or in the given ones. */
export async function diffTrees(
  ownDir: string,
  otherObjects: readonly string[],
  from: string,
  to: string,
): Promise<BranchDiff> {
  const diff = (format: readonly string[], maxBytes: number) => {
    const args = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '--no-color', ...format, from, to, '--'];
    return runInOwnRepository(ownDir, otherObjects, args, { maxBytes, mayTruncate: true });
  };
  const listed = await diff(['--numstat', '-z'], gitLimits.statusBytes);
  const shown = await diff(['-p'], gitLimits.patchBytes);
  return {
    files: parseNumstat(listed.stdout),
    patch: shown.stdout,
    truncated: listed.truncated || shown.truncated,
  };
}

/** Parses `--numstat -z`: `added TAB removed TAB name NUL`; a rename has an empty name, and two more after it. */
export function parseNumstat(text: string): DiffFile[] {
  const words = text.split('\0').slice(0, -1);
  const files: DiffFile[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [added = '', removed = '', ...name] = (words[at] ?? '').split('\t');
    const path = name.join('\t');
    const isRename = path === '';
    const from = isRename ? (words[at + 1] ?? null) : null;
    const to = isRename ? words[at + 2] : path;
    if (isRename) at += 2;
    if (to !== undefined) files.push({ path: to, from, added: lines(added), removed: lines(removed) });
  }
  return files;
}

function lines(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}
