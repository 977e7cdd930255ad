import { PawlError } from '@pawl/schema/error';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { currentBranch } from './current-branch.ts';

const file = '.pawl/config.yaml';
const message = 'chore: add the checks that have to pass';

/** Files in the git directory during an unfinished operation. */
const unfinished = [
  ['MERGE_HEAD', 'A merge'],
  ['rebase-merge', 'A rebase'],
  ['rebase-apply', 'A rebase'],
  ['CHERRY_PICK_HEAD', 'A cherry-pick'],
  ['REVERT_HEAD', 'A revert'],
] as const;

export type ConfigCommit = { branch: string; commit: string; created: boolean };

/**
 * Commits the configuration file of a checkout on its current branch, and nothing else that is staged. Runs the
 * person's own git, with their identity and hooks; if these refuse, the index stays unchanged. `target` is the target
 * branch, if known.
 */
export function commitConfig(root: string, target: string | null = null): ConfigCommit {
  const branch = currentBranch(
    root,
    `Switch to a branch first: git switch ${target ?? 'main'}; then run \`pawl init --commit\` again.`,
  );
  for (const [name, what] of unfinished) {
    if (existsSync(resolve(root, git(root, ['rev-parse', '--git-path', name]).trim()))) {
      throw new PawlError('conflict', `${what} is under way in ${root}, so ${file} is not committed.`, {
        hint: 'Finish it or abort it, then run `pawl init --commit` again.',
      });
    }
  }
  const isKnown = passes(root, ['ls-files', '--error-unmatch', '--', file]);
  const isStaged = !passes(root, ['diff', '--cached', '--quiet', '--', file]);
  const isEdited = isKnown && !passes(root, ['diff', '--quiet', '--', file]);
  const tip = () => git(root, ['rev-parse', '--verify', 'HEAD']).trim();
  if (isKnown && !isStaged && !isEdited) return { branch, commit: tip(), created: false };
  if (isStaged && isEdited) {
    throw new PawlError('conflict', `${file} is staged, and has been edited since.`, {
      hint: `Stage the version that is to be committed: git add ${file}`,
    });
  }
  git(root, ['add', '--', file]);
  try {
    git(root, ['commit', '--quiet', '--only', '-m', message, '--', file]);
  } catch (error) {
    if (!isStaged) passes(root, isKnown ? ['reset', '--quiet', '--', file] : ['rm', '--cached', '--quiet', '--', file]);
    throw error;
  }
  return { branch, commit: tip(), created: true };
}

function passes(root: string, args: readonly string[]): boolean {
  return spawnSync('git', ['-C', root, ...args], { stdio: 'ignore' }).status === 0;
}

function git(root: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', ['-C', root, ...args], {
    encoding: 'utf8',
    // A hook or a signature may have to prompt.
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  if (status === 0) return stdout;
  throw new PawlError('git_failed', `git ${args[0] ?? ''} failed: ${(stderr ?? '').trim() || (stdout ?? '').trim()}`, {
    hint: `Fix what git reports, then run \`pawl init --commit\` again. ${file} itself is unchanged.`,
  });
}
