import { constants } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { runOnRawFiles, type RawView } from '../command/command.ts';
import { createDirectoryCheck, isInside } from './file-fact.ts';
import { gitlinkMode, type IndexEntry } from './index-file.ts';
import { gitLimits } from '../command/limit.ts';

/** Names of files below a work tree, one character per byte. */
export type CarriedFiles = {
  tracked: Set<string>;
  /** Files unknown to git, and ignored ones that `.worktreeinclude` names. */
  untracked: Set<string>;
  /** Directories of existing submodules; their content belongs to another repository. */
  submodules: string[];
  /** Untracked nested repositories, which are not carried. */
  nested: string[];
};

/** Names ignored files to carry over, in `.gitignore` syntax. */
const includeFile = '.worktreeinclude';

/** Lists the files of a work tree to carry over: tracked, untracked, and those of `.worktreeinclude`. */
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
    // Git names a nested repository without looking into it.
    nested: others.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1)),
  };
}

async function listOthers(view: RawView, patterns: readonly string[]): Promise<string[]> {
  const options = { maxBytes: gitLimits.snapshotListBytes, mayTruncate: true, asBytes: true };
  const { stdout, truncated } = await runOnRawFiles(view, ['ls-files', '-z', '--others', ...patterns], options);
  if (!truncated) return stdout.split('\0').slice(0, -1);
  throw new PawlError('too_large', `${view.path} has too many untracked files to list.`, {
    hint: 'Ignore generated files (.gitignore), or commit first and fork without files.',
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
