import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { runInOwnRepository, type GitOptions } from './command.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';

/** Runs git where the queue combines changes: in Pawl's own git directory, with access to the user's objects. */
export function runOnChain(repository: Repository, ownDir: string, args: readonly string[], options: GitOptions = {}) {
  const shallowFile = join(repository.commonDir, 'shallow');
  return runInOwnRepository(ownDir, [objectsDirOf(repository)], args, { ...options, shallowFile });
}

/** The directories in which `runOnChain` finds objects, without their alternates. */
export function chainObjects(repository: Repository, ownDir: string): string[] {
  return [join(ownDir, 'objects'), objectsDirOf(repository)];
}

/** Validates a full commit id; the queue accepts no other revisions. */
export function checkCommitId(commit: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return commit;
  throw new PawlError('invalid_input', `${JSON.stringify(commit.slice(0, 80))} is not the full id of a commit.`, {
    hint: 'See `git log --format=%H`.',
  });
}
