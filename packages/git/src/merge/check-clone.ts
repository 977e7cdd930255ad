import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { constants } from 'node:fs';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { throughCheckoutLimiter } from './checkout.ts';
import { quotePath, runInOwnRepository, runWithoutRepository } from '../command/command.ts';
import { readCommit } from '../repository/commit-object.ts';
import { complaintOf } from '../command/git-failure.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { removeWhole } from '../trash/remove-whole.ts';

const cloneConfig = `[core]
\thooksPath = /dev/null
\tfsmonitor = false
\talternateRefsCommand = true
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[submodule]
\trecurse = false
[advice]
\tdetachedHead = false
`;

/**
 * Creates a repository at `dir` with the files of exactly one commit, for a check to run in. It borrows objects and
 * nothing else: no remote, ref or config leads to the user's repository or to the queue. Replaces whatever is there.
 * Refuses a commit that cannot be written as files as `invalid_input`.
 */
export async function makeCheckClone(
  repository: Repository,
  { ownDir, commit, dir }: { ownDir: string; commit: string; dir: string },
): Promise<void> {
  await ensureOwnDirectory(repository, ownDir);
  const { tree } = await readCommit(repository, ownDir, commit);
  await removeWhole(dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const gitDir = join(dir, '.git');
  const format = `--object-format=${repository.objectFormat}`;
  await runWithoutRepository(dir, ['init', '--quiet', '--template=', format, '--', dir]);
  await appendFile(join(gitDir, 'config'), cloneConfig);
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  const lenders = [join(ownDir, 'objects'), objectsDirOf(repository)];
  await writeFile(
    join(gitDir, 'objects', 'info', 'alternates'),
    lenders.map((path) => `${quotePath(path)}\n`).join(''),
  );
  await copyShallow(repository, gitDir);
  await writeFile(join(gitDir, 'HEAD'), `${commit}\n`);
  const args = ['read-tree', '-u', '--reset', '--no-recurse-submodules', tree];
  await throughCheckoutLimiter(() => runInOwnRepository(gitDir, [], args, { cwd: dir })).catch((error: unknown) => {
    throw explain(commit, error);
  });
}

/** Removes a check's clone, whatever the check left there. */
export async function removeCheckClone(dir: string): Promise<void> {
  await removeWhole(dir);
}

/** The clone of a shallow repository must know where history ends. */
async function copyShallow({ commonDir }: Repository, gitDir: string): Promise<void> {
  try {
    await copyFile(join(commonDir, 'shallow'), join(gitDir, 'shallow'), constants.COPYFILE_EXCL);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}

/** Tells a commit that cannot be checked out from a full disk. */
function explain(commit: string, error: unknown): unknown {
  const line = /^.*(?:invalid path|File name too long|Is a directory|Not a directory).*$/m.exec(
    complaintOf(error),
  )?.[0];
  if (line === undefined) return error;
  return new PawlError('invalid_input', `The files of ${commit} cannot be written: ${line}`, {
    hint: 'Remove that file from the commit, or rename it.',
    cause: error,
  });
}
