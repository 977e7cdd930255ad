import { lstat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { checkBranchName } from '../repository/branch-name.ts';
import { runInUserRepository } from '../command/command.ts';
import { isThere } from './move.ts';
import { canonicalPath, findRegistration, initializing, type Registration } from './registration.ts';
import { branchTip, commitAt, headOf, type Repository } from '../repository/repository.ts';
import { listWorktrees } from './worktree-list.ts';
import { worktreeStatus } from './worktree-status.ts';

export type WorkRequest = { ownDir: string; path: string; branch: string | null; base: string };

/** The first that applies. Only `clean` can be removed without loss; `unpushed` only if the branch stays. */
export type WorkState = 'missing' | 'locked' | 'occupied' | 'dirty' | 'unpushed' | 'clean';

export type WorktreeWork = {
  state: WorkState;
  /** Why, for a person. */
  detail: string;
  changed: number;
  untracked: number;
  /** Commits of the branch and of HEAD that are on no other branch, no remote-tracking branch and not in the base. */
  commits: number;
  /** The commit of the branch; null if there is no such branch. */
  tip: string | null;
};

/** Determines what would be lost if a worktree and its branch were removed. Ignores running processes. */
export async function worktreeWork(repository: Repository, request: WorkRequest): Promise<WorktreeWork> {
  const branch = request.branch === null ? null : checkBranchName(request.branch);
  const path = await canonicalPath(request.path);
  const registration = await findRegistration(repository, path);
  const [tip, head, directory] = await Promise.all([
    branch === null ? null : branchTip(repository, branch),
    registration === null ? null : headOf(registration.adminDir),
    isDirectory(path),
  ]);
  const commits = await countOwnCommits(repository, { branch, base: request.base, tips: [tip, head] });
  const facts = { changed: 0, untracked: 0, commits, tip };
  if (isLocked(registration)) {
    return { ...facts, state: 'locked', detail: `It is locked: ${registration?.locked || 'no reason is given'}.` };
  }
  if (!directory) return { ...facts, state: 'missing', detail: `There is no directory ${path}.` };
  if (registration === null) throw notAWorktree(repository, path);
  const inner = await worktreeInside(repository, path);
  if (inner !== null) return { ...facts, state: 'occupied', detail: `Another worktree is inside: ${inner}.` };
  return { ...facts, ...(await judge(repository, { ...request, path }, registration, { commits, head })) };
}

type Judgement = Pick<WorktreeWork, 'state' | 'detail' | 'changed' | 'untracked'>;

async function judge(
  repository: Repository,
  { ownDir, path }: WorkRequest,
  registration: Registration,
  { commits, head }: { commits: number; head: string | null },
): Promise<Judgement> {
  const { changed, untracked, truncated } = await worktreeStatus(repository, { ownDir, path });
  const dirty = (detail: string): Judgement => ({ state: 'dirty', detail, changed, untracked });
  if (head === null) return dirty('Its HEAD has no commit: the branch was deleted, or is empty.');
  if (truncated) return dirty(`More than ${changed} changed and ${untracked} untracked files are not committed.`);
  if (changed + untracked > 0) return dirty(`${changed} changed and ${untracked} untracked files are not committed.`);
  const unfinished = await unfinishedOperation(registration.adminDir);
  if (unfinished !== null) return dirty(`A ${unfinished} is in progress.`);
  if (commits > 0) {
    return { state: 'unpushed', detail: `${commits} commits are on no other branch.`, changed, untracked };
  }
  return { state: 'clean', detail: 'Everything here is elsewhere, too.', changed, untracked };
}

type Count = { branch: string | null; base: string; tips: readonly (string | null)[] };

async function countOwnCommits(repository: Repository, { branch, base, tips }: Count): Promise<number> {
  const commits = tips.filter((tip) => tip !== null);
  if (commits.length === 0) return 0;
  const known = await commitAt(repository, base);
  // Branch names contain no wildcards, so the pattern is the name.
  const exclude = branch === null ? [] : [`--exclude=${branch}`];
  const elsewhere = ['--not', ...(known === null ? [] : [known]), ...exclude, '--branches', '--remotes'];
  const { stdout } = await runInUserRepository(repository.commonDir, ['rev-list', '--count', ...commits, ...elsewhere]);
  return Number.parseInt(stdout, 10);
}

/** Files that git keeps during an unfinished operation. */
const operations = {
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  BISECT_LOG: 'bisect',
} as const;

/** The unfinished git operation in a work tree, or null. */
export async function unfinishedOperation(adminDir: string): Promise<string | null> {
  for (const [file, operation] of Object.entries(operations)) {
    if (await isThere(join(adminDir, file))) return operation;
  }
  return null;
}

function isLocked(registration: Registration | null): boolean {
  return registration !== null && registration.locked !== null && registration.locked !== initializing;
}

async function worktreeInside(repository: Repository, path: string): Promise<string | null> {
  const inner = (await listWorktrees(repository)).find((worktree) => worktree.path.startsWith(path + sep));
  if (inner !== undefined) return inner.path;
  return repository.commonDir.startsWith(path + sep) ? repository.commonDir : null;
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

function notAWorktree(repository: Repository, path: string): PawlError {
  return new PawlError('not_found', `${path} is not a worktree of ${repository.root}.`, {
    hint: 'See `git worktree list`.',
  });
}
