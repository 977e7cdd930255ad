import { checkBranchName } from './branch-name.ts';
import { runInUserRepository } from '../command/command.ts';
import { looseRefs } from './loose-refs.ts';
import type { Repository } from './repository.ts';

/** The commits of these branches, by one command; skips missing ones. */
export async function branchTips(repository: Repository, names: readonly string[]): Promise<Map<string, string>> {
  const refs = new Set(names.map((name) => `refs/heads/${checkBranchName(name)}`));
  if (refs.size === 0) return new Map();
  // Does not read objects: a missing one would hide all other branches.
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...refs];
  const { stdout } = await runInUserRepository(repository.commonDir, args);
  const tips = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const [commit = '', ref = ''] = line.split(' ');
    // Git treats a name as a prefix: skip branches below it.
    if (refs.has(ref)) tips.set(ref.slice('refs/heads/'.length), commit);
  }
  return tips;
}

/** Whether the repository has any remote-tracking branch. */
export async function hasRemoteBranches(repository: Repository): Promise<boolean> {
  const loose = await looseRefs(repository.commonDir, 'refs/remotes/');
  if (loose !== null) return loose.size > 0;
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/remotes/'];
  return (await runInUserRepository(repository.commonDir, args)).stdout !== '';
}
