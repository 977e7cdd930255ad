import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { diffTrees, type BranchDiff } from './branch-diff.ts';
import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { runOnRawFiles } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { needsNewerGit } from '../merge/merge.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { looseChangedFiles } from './loose-diff.ts';
import { looseObject, looseTree, looseTreeOf } from './loose-object.ts';
import { objectsDirOf, type Repository } from './repository.ts';
import { straightLine } from './loose-history.ts';
import { withScratch } from '../command/scratch.ts';

/** Two commits, and Pawl's own git directory of their repository. */
export type CommitPair = { ownDir: string; from: string; to: string };

/** The diff between two commits, for people. Runs no command that a repository names. */
export async function diffCommits(repository: Repository, { ownDir, from, to }: CommitPair): Promise<BranchDiff> {
  await ensureOwnDirectory(repository, ownDir);
  return diffTrees(ownDir, [objectsDirOf(repository)], checkCommitId(from), checkCommitId(to));
}

/**
 * The paths that differ between two commits; a renamed file counts with both names. Complete, or an error: a cut list
 * would hide files.
 */
export async function changedFiles(repository: Repository, { ownDir, from, to }: CommitPair): Promise<string[]> {
  const ids = [from, to].map(checkCommitId);
  await ensureOwnDirectory(repository, ownDir);
  const loose = await looseChangedFiles(chainObjects(repository, ownDir), { from, to });
  if (loose !== null) return loose;
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-ext-diff', ...ids, '--'];
  const listed = await runOnChain(repository, ownDir, args, { maxBytes: gitLimits.changedBytes, mayTruncate: true });
  if (!listed.truncated) return listed.stdout.split('\0').slice(0, -1);
  throw new PawlError('too_large', 'Too many files differ between the two commits to list them.', {
    hint: 'Keep generated files out of the repository, or split the change.',
    details: { from, to, maxBytes: gitLimits.changedBytes },
  });
}

/** The merge base of two commits; null if there is none. */
export async function mergeBase(repository: Repository, ownDir: string, a: string, b: string): Promise<string | null> {
  const args = ['merge-base', checkCommitId(a), checkCommitId(b)];
  await ensureOwnDirectory(repository, ownDir);
  const objects = chainObjects(repository, ownDir);
  if ((await straightLine(objects, { base: a, head: b })) !== null) return a;
  if ((await straightLine(objects, { base: b, head: a })) !== null) return b;
  const { exitCode, stdout } = await runOnChain(repository, ownDir, args, { answers: [1] });
  return exitCode === 0 ? stdout.trim() : null;
}

/** The content of a commit at a path; `unusable` exists but cannot be read as a file. */
export type FileFound =
  | { is: 'file'; content: Buffer }
  | { is: 'absent'; content: null }
  | { is: 'unusable'; content: null; why: string };

const absent: FileFound = { is: 'absent', content: null };
const unusable = (why: string): FileFound => ({ is: 'unusable', content: null, why });

/**
 * Reads a file of at most `maxBytes` from a commit. Links, submodules and directories are not files. The path is only
 * compared.
 */
export async function fileAt(
  repository: Repository,
  ownDir: string,
  commit: string,
  path: string,
  maxBytes: number,
): Promise<FileFound> {
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--long', '--full-tree', checkCommitId(commit), '--', path];
  if (!isTreePath(path)) return absent;
  await ensureOwnDirectory(repository, ownDir);
  const loose = await looseFileAt(chainObjects(repository, ownDir), commit, path, maxBytes);
  if (loose !== null) return loose;
  const listed = await runOnChain(repository, ownDir, args, { asBytes: true });
  const found = /^(\d+) \w+ ([0-9a-f]{40,64}) +(\d+|-)\t([^\0]*)\0$/s.exec(listed.stdout);
  const [, mode = '', id = '', size = '', name] = found ?? [];
  if (name !== Buffer.from(path).toString('latin1')) return absent;
  if (!fileMode.test(mode)) return unusable('it is not a regular file');
  if (Number(size) > maxBytes) return unusable(`it has more than ${maxBytes} bytes`);
  const content = await runOnChain(repository, ownDir, ['cat-file', 'blob', id], {
    asBytes: true,
    maxBytes: Number(size) + 1,
  });
  return { is: 'file', content: Buffer.from(content.stdout, 'latin1') };
}

const fileMode = /^100(?:644|755|664)$/;

/** The same from objects that lie in files of their own; null when only git can tell. */
async function looseFileAt(
  objectsDirs: readonly string[],
  commit: string,
  path: string,
  maxBytes: number,
): Promise<FileFound | null> {
  let id = await looseTreeOf(objectsDirs, commit, gitLimits.commitBytes);
  const parts = Buffer.from(path).toString('latin1').split('/');
  for (const [index, part] of parts.entries()) {
    const entries = id === null ? null : await looseTree(objectsDirs, id, gitLimits.looseTreeBytes);
    if (entries === null) return null;
    const entry = entries.find(({ name }) => name === part);
    if (entry === undefined) return absent;
    const isLast = index === parts.length - 1;
    if (!isLast && entry.mode !== '040000') return absent;
    if (isLast && !fileMode.test(entry.mode)) return unusable('it is not a regular file');
    ({ id } = entry);
  }
  const blob = id === null ? null : await looseObject(objectsDirs, id, maxBytes);
  return blob?.type === 'blob' ? { is: 'file', content: blob.content } : null;
}

/**
 * The files in which two commits conflict; empty if they merge cleanly. Discards the objects that git writes for it, so
 * that looking ahead costs no space.
 */
export async function conflictsBetween(
  repository: Repository,
  { ownDir, a, b }: { ownDir: string; a: string; b: string },
): Promise<string[]> {
  const ids = [a, b].map(checkCommitId);
  await ensureOwnDirectory(repository, ownDir);
  return withScratch(ownDir, async (scratch) => {
    const objectsDir = join(scratch, 'objects');
    await mkdir(objectsDir, { mode: 0o700 });
    await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
    const view = {
      rawDir: ownDir,
      objectsDir,
      otherObjects: [join(ownDir, 'objects'), objectsDirOf(repository)],
      gitDir: scratch,
      indexFile: join(scratch, 'index'),
      path: scratch,
    };
    const flags = ['-z', '--name-only', '--no-messages', '--allow-unrelated-histories'];
    const shallowFile = join(repository.commonDir, 'shallow');
    const merged = await runOnRawFiles(view, ['merge-tree', '--write-tree', ...flags, ...ids], {
      answers: [1, 129],
      shallowFile,
    });
    if (merged.exitCode === 129) throw needsNewerGit();
    if (merged.exitCode === 0) return [];
    // The first entry is the tree.
    return merged.stdout.split('\0').slice(1, -1).slice(0, gitLimits.namedFiles);
  });
}

/** Whether a tree can have this path at all. */
function isTreePath(path: string): boolean {
  if (path.includes('\0') || Buffer.byteLength(path) > gitLimits.pathBytes) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
