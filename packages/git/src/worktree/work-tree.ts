import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import {
  runForUserRepository,
  runInUserRepository,
  runOnFiles,
  runOnRawFiles,
  type RawView,
} from '../command/command.ts';
import { exclusionsOf } from '../repository/exclusion.ts';
import { lookAtFiles } from '../snapshot/file-fact.ts';
import { copyIndexPlainly, readIndexFile, type FoundIndex } from '../snapshot/index-copy.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { headOf, objectsDirOf, type Repository } from '../repository/repository.ts';
import { withScratch } from '../command/scratch.ts';
import { unfinishedOperation } from './worktree-work.ts';
import { registrationAt } from './worktree.ts';

type Place = { path: string; adminDir: string };

/**
 * Writes all files of a work tree into a tree, as git would commit them, and returns its id. Objects go to
 * `objectsDir`. Only reads the work tree and its index. Runs no filters of a repository.
 */
export async function treeOfWork(
  repository: Repository,
  { ownDir, path, adminDir, objectsDir, scratch }: Place & { ownDir: string; objectsDir: string; scratch: string },
): Promise<string> {
  const gitDir = join(scratch, 'git');
  await mkdir(gitDir, { mode: 0o700 });
  await mkdir(objectsDir, { recursive: true, mode: 0o700 });
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  const view: RawView = {
    rawDir: ownDir,
    objectsDir,
    otherObjects: [objectsDirOf(repository)],
    gitDir,
    indexFile: join(gitDir, 'index'),
    path,
  };
  await copyIndex(view, adminDir);
  const kinds = ['--modified', '--deleted', '--others', ...(await exclusionsOf(repository))];
  const options = { asBytes: true, maxBytes: gitLimits.snapshotListBytes };
  const { stdout } = await runOnRawFiles(view, ['ls-files', '-z', ...kinds], options);
  // A trailing slash marks a nested repository, which git would skip as well.
  const names = [...new Set(stdout.split('\0'))].filter((name) => name !== '' && !name.endsWith('/'));
  await refuseTooMuch(path, names);
  const input = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1');
  await runOnRawFiles(view, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
  return (await runOnRawFiles(view, ['write-tree'])).stdout.trim();
}

/** Copies an index to where a view expects it. Keeps its mtime, by which git knows what to check again. */
export async function copyIndex(view: RawView, adminDir: string): Promise<void> {
  const found: FoundIndex | null = await readIndexFile(adminDir);
  if (found === null) {
    throw new PawlError('conflict', `The files of ${view.path} were never written: it has no index.`, {
      hint: 'Run `git status` there; `git reset` creates an index.',
    });
  }
  if (found.bytes.includes('link')) return copyIndexPlainly(view, found, adminDir);
  await writeFile(view.indexFile, found.bytes, { mode: 0o600 });
  const seconds = Number(found.mtimeNs / 1_000_000_000n);
  await utimes(view.indexFile, seconds, seconds);
}

/**
 * Commits everything in an agent's worktree onto its branch. Returns the new commit, or null if there was nothing to
 * commit. The next call finishes an interrupted one.
 */
export async function commitWork(
  repository: Repository,
  request: { ownDir: string; path: string; branch: string; message: string },
): Promise<string | null> {
  const { ownDir, branch, message } = request;
  const { adminDir, path, branch: current } = await registrationAt(repository, request.path);
  const place = { path: path ?? request.path, adminDir };
  const unfinished = await unfinishedOperation(adminDir);
  const head = await headOf(adminDir);
  if (current !== branch || unfinished !== null || head === null) {
    throw new PawlError(
      'conflict',
      `The worktree ${place.path} is not on its branch ${branch}, or an operation is in progress.`,
      {
        hint: `See \`git status\` there: ${unfinished === null ? 'it is on something else' : `a ${unfinished} is in progress`}.`,
      },
    );
  }
  const objectsDir = objectsDirOf(repository);
  await ensureOwnDirectory(repository, ownDir);
  return withLock(`worktree:${place.path}`, () =>
    withScratch(ownDir, async (scratch) => {
      const tree = await treeOfWork(repository, { ownDir, ...place, objectsDir, scratch });
      const known = await runForUserRepository(ownDir, objectsDir, ['rev-parse', '--verify', `${head}^{tree}`]);
      const isNew = known.stdout.trim() !== tree;
      const commit = isNew ? await commitTree({ ownDir, objectsDir, tree, parents: [head], message }) : head;
      if (isNew) {
        const ref = `refs/heads/${branch}`;
        await runInUserRepository(repository.commonDir, ['update-ref', '-m', 'pawl: commit', ref, commit, head]);
      }
      // The files already match the commit; only the index must be updated.
      const view = { ownDir, objectsDir, ...place };
      await runOnFiles(view, ['read-tree', '--reset', commit]);
      return isNew ? commit : null;
    }),
  );
}

/** Commits a tree as Pawl. */
export async function commitTree(request: {
  ownDir: string;
  objectsDir: string;
  tree: string;
  parents: readonly string[];
  message: string;
}): Promise<string> {
  const { ownDir, objectsDir, tree, parents, message } = request;
  const args = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), '-F', '-', tree];
  return (await runForUserRepository(ownDir, objectsDir, args, { input: Buffer.from(message) })).stdout.trim();
}

async function refuseTooMuch(path: string, names: readonly string[]): Promise<void> {
  let bytes = 0n;
  if (names.length <= gitLimits.diffFiles) {
    for (const { size } of (await lookAtFiles(path, names)).values()) bytes += size;
    if (bytes <= gitLimits.diffBytes) return;
  }
  throw new PawlError('too_large', `${path} has more uncommitted content than can be handled.`, {
    hint: 'Ignore generated files (.gitignore), or commit them there.',
    details: { files: names.length, bytes: Number(bytes) },
  });
}
