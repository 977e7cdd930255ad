import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { followFiles, hasWork, isIndexAt, rehearse } from '../merge/advance.ts';
import { checkBranchName } from '../repository/branch-name.ts';
import { runInUserRepository, runOnFiles, runOnRawFiles, type OwnView, type RawView } from '../command/command.ts';
import { readCommit } from '../repository/commit-object.ts';
import {
  mergeWithConflicts,
  type ConflictedMerge,
  type ConflictRequest,
  type Stage,
} from '../merge/conflicted-merge.ts';
import { removeAbandonedLock, waitForEarlierGit } from './leftover.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { isHalfOf } from '../merge/merge-leftover.ts';
import { isThere } from './move.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { readPointer } from '../repository/pointer-file.ts';
import { headOf, objectsDirOf, type Repository } from '../repository/repository.ts';
import { withScratch } from '../command/scratch.ts';
import { commitTree, copyIndex } from './work-tree.ts';
import { unfinishedOperation } from './worktree-work.ts';
import { registrationAt } from './worktree.ts';

export type BeginRequest = ConflictRequest & {
  path: string;
  branch: string;
  message: string;
  /** An earlier call may have been interrupted: its files may already be there. */
  isRepeat: boolean;
};

export type BegunMerge =
  /** The merge is in progress in the worktree, with these files in conflict; `already` if it was before. */
  | { do: 'begun' | 'already'; files: string[] }
  /** Nothing conflicts, so nothing was started. */
  | { do: 'clean' };

/**
 * Starts a merge in a clean worktree as `git merge` would: conflict markers in the files, the versions in the index,
 * and MERGE_HEAD. Unlike git, it runs no hook, filter or driver of any repository.
 *   files and index at the merged tree ─▶ conflicted versions in the index ─▶ MERGE_HEAD
 * MERGE_HEAD comes last, so a merge that git shows is complete; an interrupted one is done again.
 */
export async function beginMerge(repository: Repository, request: BeginRequest): Promise<BegunMerge> {
  const { ownDir, head } = request;
  await ensureOwnDirectory(repository, ownDir);
  const view = await viewOf(repository, request);
  return withLock(`worktree:${view.path}`, async () => {
    const unfinished = await unfinishedOperation(view.adminDir);
    if (unfinished === 'merge') return { do: 'already', files: await unmergedFiles(view) };
    if (unfinished !== null) throw refusal(view, `a ${unfinished} is in progress there`, 'Finish or abort it first.');
    if ((await headOf(view.adminDir)) !== head)
      throw refusal(view, 'its branch has moved', 'Propose the new commit: pawl change open');
    const merge = await mergeWithConflicts(repository, request);
    if (merge.stages.length === 0) return { do: 'clean' };
    await writeFiles(repository, view, { ...request, merge });
    crashPoint('fix.after_files');
    await writeStages(view, merge.stages);
    crashPoint('fix.after_index');
    await replaceFile(join(view.adminDir, 'MERGE_MSG'), request.message);
    await replaceFile(join(view.adminDir, 'MERGE_MODE'), '');
    await replaceFile(join(view.adminDir, 'MERGE_HEAD'), `${request.onto}\n`);
    return { do: 'begun', files: await unmergedFiles(view) };
  });
}

/** Commits a merge whose conflicts are all resolved and staged. Null if no merge is in progress. */
export async function commitMerge(
  repository: Repository,
  request: { ownDir: string; path: string; branch: string; message: string },
): Promise<string | null> {
  const { ownDir, branch, message } = request;
  const ref = `refs/heads/${checkBranchName(branch)}`;
  await ensureOwnDirectory(repository, ownDir);
  const view = await viewOf(repository, request);
  return withLock(`worktree:${view.path}`, async () => {
    const other = await readPointer(join(view.adminDir, 'MERGE_HEAD'));
    const head = await headOf(view.adminDir);
    if (other === null || head === null) return null;
    if (!(await isCommitted(repository, view, { head, other }))) {
      await refuseUnresolved(view);
      const tree = await treeOfIndex(repository, view);
      const { objectsDir } = view;
      const commit = await commitTree({ ownDir, objectsDir, tree, parents: [head, other], message });
      await runInUserRepository(repository.commonDir, ['update-ref', '-m', 'pawl: merge', ref, commit, head]);
      crashPoint('fix.after_commit');
    }
    for (const name of ['AUTO_MERGE', 'MERGE_MSG', 'MERGE_MODE', 'MERGE_HEAD'])
      await rm(join(view.adminDir, name), { force: true });
    return headOf(view.adminDir);
  });
}

async function viewOf(
  repository: Repository,
  { ownDir, path, branch }: { ownDir: string; path: string; branch: string },
): Promise<OwnView> {
  const registration = await registrationAt(repository, path);
  const view = {
    ownDir,
    objectsDir: objectsDirOf(repository),
    adminDir: registration.adminDir,
    path: registration.path ?? path,
  };
  if (registration.branch !== branch) throw refusal(view, `it is not on ${branch}`, 'Switch back to that branch.');
  return view;
}

async function writeFiles(
  repository: Repository,
  view: OwnView,
  { ownDir, head, merge, isRepeat }: BeginRequest & { merge: ConflictedMerge },
): Promise<void> {
  if (isRepeat) {
    // A git process of the dead daemon may still be running.
    await waitForEarlierGit(view.path);
    await removeAbandonedLock(view.adminDir);
  }
  if (await isThere(join(view.adminDir, 'index.lock')))
    throw refusal(view, 'a git command is running there', 'Wait for it to end.');
  if (await isThere(join(view.adminDir, 'info', 'sparse-checkout')))
    throw refusal(view, 'it is a sparse checkout', 'Merge by hand.');
  if (!(await hasWork(view, head))) {
    await rehearse(repository, view, { ownDir, from: head, to: merge.tree });
    return followFiles(view, head, merge.tree);
  }
  if (!isRepeat || !(await isHalfOf(repository, view, { head, tree: merge.tree })))
    throw refusal(view, 'it has uncommitted changes', 'Commit or stash them there first.');
  await runOnFiles(view, ['read-tree', '--reset', '-u', '--no-recurse-submodules', merge.tree]);
}

/** Replaces the entries of conflicted files by their versions, as git does in a merge. */
async function writeStages(view: OwnView, stages: readonly Stage[]): Promise<void> {
  const none = '0'.repeat(stages[0]?.id.length ?? 40);
  const names = new Set(stages.map(({ name }) => name));
  const lines = [
    ...[...names].map((name) => `0 ${none}\t${name}\0`),
    ...stages.map(({ mode, id, stage, name }) => `${mode} ${id} ${stage}\t${name}\0`),
  ];
  await runOnFiles(view, ['update-index', '-z', '--index-info'], { input: Buffer.from(lines.join(''), 'latin1') });
}

async function unmergedFiles(view: OwnView): Promise<string[]> {
  const options = { maxBytes: gitLimits.statusBytes, mayTruncate: true };
  const { stdout } = await runOnFiles(view, ['ls-files', '-z', '--unmerged'], options);
  const names = stdout.split('\0').map((line) => line.slice(line.indexOf('\t') + 1));
  return [...new Set(names)].filter((name) => name !== '').slice(0, gitLimits.namedFiles);
}

async function refuseUnresolved(view: OwnView): Promise<void> {
  const files = await unmergedFiles(view);
  if (files.length > 0) {
    throw new PawlError('conflict', `Files in ${view.path} are still in conflict: ${files.slice(0, 5).join(', ')}.`, {
      hint: 'Resolve them, and mark each as resolved: git add <file>, or git rm <file>',
      details: { files },
    });
  }
  const { stdout } = await runOnFiles(view, ['ls-files', '-z', '--modified', '--deleted'], {
    maxBytes: gitLimits.statusBytes,
    mayTruncate: true,
  });
  if (stdout !== '') throw refusal(view, 'it has changes that are not staged', 'Stage them: git add --update');
}

/** Whether an interrupted call had already made the commit. */
async function isCommitted(
  repository: Repository,
  view: OwnView,
  { head, other }: { head: string; other: string },
): Promise<boolean> {
  const { parents } = await readCommit(repository, view.ownDir, head);
  return parents[1] === other && (await isIndexAt(view, head));
}

/** Writes the tree of an index to the user's objects. */
async function treeOfIndex(repository: Repository, view: OwnView): Promise<string> {
  return withScratch(view.ownDir, async (scratch) => {
    await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
    const copy: RawView = {
      rawDir: view.ownDir,
      objectsDir: objectsDirOf(repository),
      otherObjects: [],
      gitDir: scratch,
      indexFile: join(scratch, 'index'),
      path: view.path,
    };
    await copyIndex(copy, view.adminDir);
    return (await runOnRawFiles(copy, ['write-tree'])).stdout.trim();
  });
}

/** Writes a small file by a rename, so that a link in its place is replaced, not followed. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.pawl-draft`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { flag: 'wx' });
  await rename(draft, path);
}

function refusal({ path }: OwnView, why: string, hint: string): PawlError {
  return new PawlError('conflict', `The worktree ${path} cannot be used for a merge: ${why}.`, { hint });
}
