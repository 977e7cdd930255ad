import { checkBranchName } from './branch-name.ts';
import { runInUserRepository } from '../command/command.ts';
import { looseRefs } from './loose-refs.ts';
import type { Repository } from './repository.ts';

/** Where these branches are, with one command for all of them; those that are not there are left out. */
export async function branchTips(repository: Repository, names: readonly string[]): Promise<Map<string, string>> {
  const refs = new Set(names.map((name) => `refs/heads/${checkBranchName(name)}`));
  if (refs.size === 0) return new Map();
  // Objects are not looked at: one that is missing would keep all other branches from being told.
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...refs];
  const { stdout } = await runInUserRepository(repository.commonDir, args);
  const tips = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const [commit = '', ref = ''] = line.split(' ');
    // A name is also a prefix for git: what lies below it was not asked for.
    if (refs.has(ref)) tips.set(ref.slice('refs/heads/'.length), commit);
  }
  return tips;
}

/** Whether the repository knows any branch of a remote. */
export async function hasRemoteBranches(repository: Repository): Promise<boolean> {
  const loose = await looseRefs(repository.commonDir, 'refs/remotes/');
  if (loose !== null) return loose.size > 0;
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/remotes/'];
  return (await runInUserRepository(repository.commonDir, args)).stdout !== '';
}
