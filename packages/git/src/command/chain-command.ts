import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { runInOwnRepository, type GitOptions } from './command.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';

/** Runs git where the queue puts changes together: in Pawl's own git directory, with the objects of the user's at hand. */
export function runOnChain(repository: Repository, ownDir: string, args: readonly string[], options: GitOptions = {}) {
  const shallowFile = join(repository.commonDir, 'shallow');
  return runInOwnRepository(ownDir, [objectsDirOf(repository)], args, { ...options, shallowFile });
}

/** The directories in which `runOnChain` finds objects, but for those that lend to them. */
export function chainObjects(repository: Repository, ownDir: string): string[] {
  return [join(ownDir, 'objects'), objectsDirOf(repository)];
}

/** Returns a full id of a commit; what else a revision can be has no place where a queue works. */
export function checkCommitId(commit: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return commit;
  throw new PawlError('invalid_input', `${JSON.stringify(commit.slice(0, 80))} is not the full id of a commit.`, {
    hint: 'See `git log --format=%H`.',
  });
}
