import { lstatSync, type Stats } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';
import { runOnRawFiles, type RawView } from '../command/command.ts';
import { inTurns, pathOf } from '../snapshot/file-fact.ts';
import { gitLimits } from '../command/limit.ts';

/**
 * The untracked files in the way when a work tree moves from one commit to another. Git itself refuses for those, but
 * not for ignored ones: it would silently overwrite a settings file or a results directory. The view's index is that of
 * the work tree.
 */
export async function untrackedInTheWay(view: RawView, from: string, to: string): Promise<string[]> {
  const options = { asBytes: true, maxBytes: gitLimits.snapshotListBytes };
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const added = namesIn((await runOnRawFiles(view, ['diff-tree', ...flags, from, to, '--'], options)).stdout);
  const taken = new Set<string>();
  await inTurns(added, (name) => {
    const place = takenPlace(view.path, name);
    if (place !== null) taken.add(place);
  });
  if (taken.size === 0) return [];
  const tracked = new Set(namesIn((await runOnRawFiles(view, ['ls-files', '-z'], options)).stdout));
  // Git handles tracked paths itself. Of a directory it tracks only the files.
  const unknown = [...taken].filter((name) => !tracked.has(name)).slice(0, gitLimits.namedFiles);
  const inside = ['--literal-pathspecs', 'ls-files', '-z', '--others', '--directory', '--'];
  const found: string[] = [];
  for (const name of unknown) {
    const isDirectory = lookAt(pathOf(view.path, name))?.isDirectory() === true;
    if (!isDirectory) found.push(name);
    else {
      // The name is passed as text; one that is not UTF-8 finds nothing, and git's own check remains.
      const path = Buffer.from(name, 'latin1').toString();
      if ((await runOnRawFiles(view, [...inside, path], { ...options, mayTruncate: true })).stdout !== '')
        found.push(name);
    }
  }
  return found.map((name) => Buffer.from(name, 'latin1').toString());
}

/** The path that occupies a new file's place: its own, or a non-directory above it; null if the path is free. */
function takenPlace(root: string, name: string): string | null {
  for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
    const above = lookAt(pathOf(root, name.slice(0, slash)));
    if (above === null) return null;
    if (!above.isDirectory()) return name.slice(0, slash);
  }
  return lookAt(pathOf(root, name)) === null ? null : name;
}

function lookAt(path: Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP')) return null;
    throw error;
  }
}

function namesIn(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}
