import { hasErrno, PawlError } from '@pawl/schema/error';
import { spawnSync } from 'node:child_process';

/** The branch of a checkout; `hint` is for a detached HEAD. Runs nothing that the repository names. */
export function currentBranch(path: string, hint: string): string {
  const { stdout, status, error } = spawnSync('git', ['-C', path, 'symbolic-ref', '--quiet', '--short', 'HEAD'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (hasErrno(error, 'ENOENT')) throw new PawlError('git_failed', 'git is not on the PATH.');
  const branch = (stdout ?? '').trim();
  if (status === 0 && branch !== '') return branch;
  // With --quiet, 1 means a detached HEAD; everything else means no repository.
  if (status !== 1) throw new PawlError('not_a_repository', `${path} is not in a git repository.`);
  throw new PawlError('usage', `No branch is checked out in ${path} (detached HEAD).`, { hint });
}
