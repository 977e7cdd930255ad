import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { checkBranchName } from './branch-name.ts';
import { runInUserRepository, runToDiscover } from '../command/command.ts';
import { complaintOf } from '../command/git-failure.ts';
import { gitLimits } from '../command/limit.ts';
import { looseBranchTip, looseCommit, looseHead } from './loose-commit.ts';
import { looseRefs } from './loose-refs.ts';
import { straightLine } from './loose-history.ts';

/** A repository of the user. All paths are canonical. */
export type Repository = {
  /** The main work tree, or the repository itself if it is bare. */
  root: string;
  /** Shared by all worktrees: objects, refs, config. */
  commonDir: string;
  /**
   * The git directory of the work tree where the search started, with its own HEAD: of a linked one, or the main one.
   */
  gitDir: string;
  /** The top of that work tree; the repository itself if there is none. */
  top: string;
  bare: boolean;
  objectFormat: 'sha1' | 'sha256';
};

export type Branch = { name: string; commit: string };

/** Finds the repository of a directory, also from below its root or from a linked worktree. */
export async function openRepository(path: string): Promise<Repository> {
  const start = await canonicalDirectory(path);
  const found = await discover(start);
  const commonDir = await realpath(found.commonDir);
  const { objectFormat } = found;
  const main = { commonDir, gitDir: commonDir, objectFormat };
  if (found.bare) return { ...main, root: commonDir, top: commonDir, bare: true };
  const top = resolve(start, found.up);
  if (found.gitDir === found.commonDir && found.insideWorkTree) return { ...main, root: top, top, bare: false };
  const linked = found.insideWorkTree ? { ...main, gitDir: await realpath(found.gitDir), top } : null;
  // A linked worktree, or a path inside the git directory: git itself names the main work tree, if there is one.
  const cwd = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
  const args = ['rev-parse', '--is-bare-repository', '--show-toplevel'];
  const { stdout } = await runInUserRepository(commonDir, args, { cwd, answers: [128] });
  const [bare, toplevel] = stdout.split('\n');
  if (bare === 'true' || !toplevel) return { ...(linked ?? { ...main, top: commonDir }), root: commonDir, bare: true };
  const root = await realpath(toplevel);
  return { ...(linked ?? { ...main, top: root }), root, bare: false };
}

/** Resolves a revision to a full commit id. */
export async function resolveCommit(repository: Repository, revision = 'HEAD'): Promise<string> {
  // oxlint-disable-next-line no-control-regex
  if (!/^[^-\s\u0000-\u001f][^\u0000-\u001f]*$/.test(revision) || revision.length > gitLimits.revisionCharacters) {
    throw new PawlError('invalid_input', 'The revision is empty, too long, or starts with a character like "-".', {
      hint: 'Name a branch, a tag or a commit.',
    });
  }
  // A linked worktree has its own HEAD; all other names are shared.
  const loose = revision === 'HEAD' ? looseHead(repository.gitDir) : looseCommit(repository.commonDir, revision);
  const commit = (await loose) ?? (await lookUp({ commonDir: repository.gitDir }, `${revision}^{commit}`));
  if (commit !== null) return commit;
  if (revision === 'HEAD') {
    throw new PawlError('no_commits', `The repository ${repository.root} has no commit yet.`, {
      hint: 'Make a first commit: git commit --allow-empty -m "first"',
    });
  }
  throw new PawlError('not_found', `There is no commit called ${JSON.stringify(revision)} in ${repository.root}.`, {
    hint: 'See `git branch --all` and `git log`.',
  });
}

/** The commit of a branch, or null if there is no such branch. */
export async function branchTip(repository: Repository, name: string): Promise<string | null> {
  checkBranchName(name);
  return (await looseBranchTip(repository.commonDir, name)) ?? lookUp(repository, `refs/heads/${name}^{commit}`);
}

/** The commit of HEAD in a git directory, such as a worktree's; null before the first commit. */
export async function headOf(gitDir: string): Promise<string | null> {
  const loose = await looseHead(gitDir);
  if (loose !== null) return loose;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', 'HEAD^{commit}'];
  const { exitCode, stdout } = await runInUserRepository(gitDir, args, { answers: [1, 128] });
  return exitCode === 0 ? stdout.trim() : null;
}

export async function branchExists(repository: Repository, name: string): Promise<boolean> {
  return (await branchTip(repository, name)) !== null;
}

/** The commit of a full ref name or a commit id, or null. */
export async function commitAt(repository: Repository, name: string): Promise<string | null> {
  if (!/^(?:refs\/|[0-9a-f]{40,64}$)/.test(name)) return null;
  return (await looseCommit(repository.commonDir, name)) ?? lookUp(repository, `${name}^{commit}`);
}

/** The branches below a path prefix such as `work/`; all without a prefix. */
export async function listBranches(repository: Repository, prefix = ''): Promise<Branch[]> {
  if (prefix !== '') checkBranchName(prefix.replace(/\/$/, ''));
  const loose = await looseRefs(repository.commonDir, `refs/heads/${prefix}`);
  if (loose !== null) return [...loose].map(([ref, commit]) => ({ commit, name: ref.slice('refs/heads/'.length) }));
  const { stdout } = await runInUserRepository(repository.commonDir, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    `refs/heads/${prefix}`,
  ]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const space = line.indexOf(' ');
      return { commit: line.slice(0, space), name: line.slice(space + 1 + 'refs/heads/'.length) };
    });
}

/** How many commits `tip` has that `base` lacks. */
export async function countCommits(repository: Repository, base: string, tip: string): Promise<number> {
  const [from, to] = await Promise.all([resolveCommit(repository, base), resolveCommit(repository, tip)]);
  const line = await straightLine([objectsDirOf(repository)], { base: from, head: to });
  if (line !== null) return line.length;
  const { stdout } = await runInUserRepository(repository.commonDir, ['rev-list', '--count', `${from}..${to}`, '--']);
  return Number.parseInt(stdout, 10);
}

async function lookUp(repository: Pick<Repository, 'commonDir'>, revision: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', revision];
  const { exitCode, stdout } = await runInUserRepository(repository.commonDir, args, { answers: [1, 128] });
  // A range or an exclusion is a revision, too, but does not resolve to one id.
  return exitCode === 0 && /^[0-9a-f]{40,64}\n$/.test(stdout) ? stdout.trim() : null;
}

type Discovery = Pick<Repository, 'commonDir' | 'bare' | 'objectFormat'> & {
  gitDir: string;
  insideWorkTree: boolean;
  /** The relative path from the start of the search to the top of the work tree. */
  up: string;
};

async function discover(start: string): Promise<Discovery> {
  const shown = ['--git-common-dir', '--absolute-git-dir', '--show-object-format', '--is-bare-repository'];
  const args = ['rev-parse', '--path-format=absolute', ...shown, '--is-inside-work-tree', '--show-cdup'];
  const { stdout } = await runToDiscover(start, args).catch((error: unknown) => {
    throw explainDiscovery(start, error);
  });
  const [commonDir = '', gitDir = '', objectFormat, bare, insideWorkTree, up = ''] = stdout.split('\n');
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256') {
    throw new PawlError('not_a_repository', `Cannot parse git's answer about ${start}.`, {
      hint: 'Move the repository to a path without line breaks, and use a current git.',
    });
  }
  return { commonDir, gitDir, objectFormat, bare: bare === 'true', insideWorkTree: insideWorkTree === 'true', up };
}

function explainDiscovery(start: string, error: unknown): unknown {
  const complaint = complaintOf(error);
  if (complaint.includes('dubious ownership')) {
    const remedy = /git config --global --add safe\.directory .*/.exec(complaint)?.[0];
    return new PawlError('forbidden', `Git does not trust ${start}, because it belongs to another user.`, {
      hint: `If you trust it, run: ${remedy ?? `git config --global --add safe.directory ${start}`}`,
      cause: error,
    });
  }
  if (!complaint.includes('not a git repository')) return error;
  return new PawlError('not_a_repository', `${start} is not in a git repository.`, {
    hint: 'Go to a repository, or make one: git init',
    cause: error,
  });
}

async function canonicalDirectory(path: string): Promise<string> {
  try {
    const canonical = await realpath(path);
    if ((await stat(canonical)).isDirectory()) return canonical;
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) throw error;
  }
  throw new PawlError('not_found', `There is no directory ${path}.`, { hint: 'Name the directory of a repository.' });
}

export function objectsDirOf(repository: Repository): string {
  return join(repository.commonDir, 'objects');
}
