import { runOnFiles, type GitOptions, type OwnView } from '../command/command.ts';
import { exclusionsOf } from '../repository/exclusion.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { headOf, objectsDirOf, type Repository } from '../repository/repository.ts';
import { registrationAt } from './worktree.ts';

export type WorktreeStatus = {
  /** Tracked files that differ from HEAD, in the index or on disk. */
  changed: number;
  /** Untracked files and whole directories, not ignored. */
  untracked: number;
  /** The first of both, for display; invalid UTF-8 has replacement characters. */
  files: string[];
  /** There was too much to count: the numbers are lower bounds. */
  truncated: boolean;
  head: string | null;
  branch: string | null;
};

/** The id of the empty tree, which git knows without storing it. */
const emptyTree = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
} as const;

const listing: GitOptions = { maxBytes: gitLimits.statusBytes, mayTruncate: true };

/**
 * The uncommitted state of a worktree. Reads its real index and writes nothing; submodules are compared by commit only,
 * because looking inside would run git with the submodule's own config.
 */
export async function worktreeStatus(
  repository: Repository,
  { ownDir, path }: { ownDir: string; path: string },
): Promise<WorktreeStatus> {
  const registration = await registrationAt(repository, path);
  const { adminDir } = registration;
  const view = { ownDir, objectsDir: objectsDirOf(repository), adminDir, path: registration.path ?? path };
  const [head] = await Promise.all([headOf(adminDir), ensureOwnDirectory(repository, ownDir)]);
  const commit = head ?? emptyTree[repository.objectFormat];
  const [onDisk, inIndex] = await Promise.all([
    listOnDisk(repository, view),
    runOnFiles(
      view,
      ['diff-index', '--cached', '--name-only', '-z', '--no-renames', '--no-ext-diff', commit, '--'],
      listing,
    ),
  ]);
  const marked = entriesIn(onDisk.stdout);
  const untracked = marked.filter((entry) => entry.startsWith('? ')).map(nameOf);
  const edited = marked.filter((entry) => !entry.startsWith('? ')).map(nameOf);
  const changed = new Set([...edited, ...entriesIn(inIndex.stdout)]);
  return {
    changed: changed.size,
    untracked: untracked.length,
    files: [...changed, ...untracked].slice(0, gitLimits.statusFiles),
    truncated: onDisk.truncated || inIndex.truncated,
    head,
    branch: registration.branch,
  };
}

/**
 * Differences between disk and index, with a mark before each name. `ls-files` compares contents if times differ; `git
 * diff` would, too, but it writes the refreshed index back, even without optional locks.
 */
async function listOnDisk(repository: Repository, view: OwnView) {
  const kinds = ['--modified', '--deleted', '--others', ...(await exclusionsOf(repository))];
  return runOnFiles(view, ['ls-files', '-t', '-z', ...kinds, '--directory', '--no-empty-directory'], listing);
}

/** The entries before each NUL; drops an incomplete one. */
function entriesIn(text: string): string[] {
  return text.split('\0').slice(0, -1);
}

/** The name after a mark and a space. */
function nameOf(entry: string): string {
  return entry.slice(2);
}
