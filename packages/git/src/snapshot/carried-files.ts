import { constants } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { runOnRawFiles, type RawView } from '../command/command.ts';
import { createDirectoryCheck, isInside } from './file-fact.ts';
import { gitlinkMode, type IndexEntry } from './index-file.ts';
import { gitLimits } from '../command/limit.ts';

/** Names of files below a work tree, one character for one byte. */
export type CarriedFiles = {
  tracked: Set<string>;
  /** Files that git does not know, and ignored ones that `.worktreeinclude` names. */
  untracked: Set<string>;
  /** Directories of submodules that are there; what is in them is another repository's. */
  submodules: string[];
  /** Untracked repositories inside, which are not carried. */
  nested: string[];
};

/** The file that names ignored files to be carried, in the syntax of `.gitignore`. */
const includeFile = '.worktreeinclude';

/** Finds out which files of a work tree are carried: tracked ones, untracked ones, and those of `.worktreeinclude`. */
export async function findCarriedFiles(
  view: RawView,
  entries: readonly IndexEntry[],
  exclusions: readonly string[],
): Promise<CarriedFiles> {
  const safe = entries.filter((entry) => isInside(entry.name));
  const isRealDirectory = createDirectoryCheck(view.path);
  const gitlinks = safe.filter((entry) => entry.mode === gitlinkMode).map((entry) => entry.name);
  const others = await listOthers(view, exclusions);
  const included = (await listIncluded(view)).filter((name) => !/^\.pawl\//i.test(name));
  return {
    tracked: new Set(safe.filter((entry) => entry.mode !== gitlinkMode).map((entry) => entry.name)),
    untracked: new Set([...others, ...included].filter(isInside)),
    submodules: [...new Set(gitlinks)].filter(isRealDirectory),
    // Git names a repository inside, and does not look into it.
    nested: others.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1)),
  };
}

async function listOthers(view: RawView, patterns: readonly string[]): Promise<string[]> {
  const options = { maxBytes: gitLimits.snapshotListBytes, mayTruncate: true, asBytes: true };
  const { stdout, truncated } = await runOnRawFiles(view, ['ls-files', '-z', '--others', ...patterns], options);
  if (!truncated) return stdout.split('\0').slice(0, -1);
  throw new PawlError('too_large', `The names of the untracked files in ${view.path} fill more than a list may hold.`, {
    hint: 'Ignore what is generated (.gitignore), or commit first and fork without files.',
  });
}

async function listIncluded(view: RawView): Promise<string[]> {
  const patterns = await readInclude(join(view.path, includeFile));
  if (patterns === null) return [];
  const copy = join(view.gitDir, 'include');
  await writeFile(copy, patterns, { mode: 0o600 });
  return listOthers(view, ['--ignored', `--exclude-from=${copy}`]);
}

async function readInclude(path: string): Promise<Buffer | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENXIO')) return null;
    throw error;
  }
  try {
    const info = await file.stat();
    if (!info.isFile()) return null;
    if (info.size <= gitLimits.includeBytes) return await file.readFile();
  } finally {
    await file.close();
  }
  throw new PawlError('too_large', `${path} is larger than ${gitLimits.includeBytes} bytes.`, {
    hint: 'Name directories instead of single files.',
  });
}
