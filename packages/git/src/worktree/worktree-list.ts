import { runInUserRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import { repositoryLock } from './register.ts';
import type { Repository } from '../repository/repository.ts';

export type ListedWorktree = {
  path: string;
  /** Null in a bare repository and before the first commit. */
  head: string | null;
  /** Null if HEAD is detached. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, possibly empty; null if it is not. */
  locked: string | null;
  /** Why git would prune it, such as a missing directory; null if it would not. */
  prunable: string | null;
};

/** All worktrees of the repository, the main one first. */
export async function listWorktrees(repository: Repository): Promise<ListedWorktree[]> {
  return withLock(repositoryLock(repository), () => readWorktrees(repository));
}

/** The same, while holding the repository's lock. */
export async function readWorktrees(repository: Repository): Promise<ListedWorktree[]> {
  const command = ['worktree', 'list', '--porcelain'];
  const terminated = await runInUserRepository(repository.commonDir, [...command, '-z'], { answers: [129] });
  // Git before 2.36 does not know `-z` and prints its usage.
  const listed =
    terminated.exitCode === 0
      ? parseWorktreeList(terminated.stdout, '\0')
      : parseWorktreeList((await runInUserRepository(repository.commonDir, command)).stdout, '\n');
  // For a submodule git names its git directory here, not its work tree.
  return listed.map((worktree, index) => (index === 0 ? { ...worktree, path: repository.root } : worktree));
}

/** Parses `git worktree list --porcelain`: a record per worktree, a line per attribute, an empty line between. */
export function parseWorktreeList(text: string, terminator: '\0' | '\n'): ListedWorktree[] {
  return text
    .split(terminator + terminator)
    .filter((record) => record !== '')
    .map((record) => {
      const attributes = new Map(record.split(terminator).map(splitAttribute));
      const head = attributes.get('HEAD') ?? null;
      return {
        path: attributes.get('worktree') ?? '',
        head: head === null || /^0+$/.test(head) ? null : head,
        branch: attributes.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        bare: attributes.has('bare'),
        locked: attributes.get('locked') ?? null,
        prunable: attributes.get('prunable') ?? null,
      };
    })
    .filter((worktree) => worktree.path !== '');
}

function splitAttribute(line: string): [string, string] {
  const space = line.indexOf(' ');
  return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
}
