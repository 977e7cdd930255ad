import { runInOwnRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { objectsDirOf, type Repository } from './repository.ts';

/** The first line of a commit's message, as far as it is short; empty when it has none. */
export async function commitSubject(repository: Repository, ownDir: string, commit: string): Promise<string> {
  const args = ['rev-list', '--max-count=1', '--no-commit-header', '--format=%s', commit, '--'];
  const options = { maxBytes: gitLimits.commitBytes, mayTruncate: true };
  const { stdout } = await runInOwnRepository(ownDir, [objectsDirOf(repository)], args, options);
  return stdout.trim();
}
