import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import type { TreeEntry } from './loose-object.ts';
import { looseObject, looseTree, looseTreeOf } from './loose-object.ts';
import type { Repository } from './repository.ts';

/** The files of one commit, read by few git commands regardless of their number. */
export type CommitFiles = {
  /** Ids of all files, links and submodules by path; empty if there are too many to list. */
  ids: ReadonlyMap<string, string>;
  /** Paths of links and of submodules. */
  links: ReadonlySet<string>;
  /** The texts of some files; skips missing and oversized ones, and those beyond `totalBytes`. A link's text is its target. */
  read(paths: readonly string[], bounds: Bounds): Promise<Map<string, string>>;
};

export async function commitFiles(repository: Repository, ownDir: string, commit: string): Promise<CommitFiles> {
  await ensureOwnDirectory(repository, ownDir);
  const objects = chainObjects(repository, ownDir);
  const entries = (await looseFiles(objects, checkCommitId(commit))) ?? (await listFiles(repository, ownDir, commit));
  const ids = new Map(entries.map(({ name, id }) => [name, id]));
  const links = new Set(entries.filter(({ mode }) => !mode.startsWith('100')).map(({ name }) => name));
  return {
    ids,
    links,
    read: async (paths, bounds) => {
      const wanted = new Set(paths.flatMap((path) => ids.get(path) ?? []));
      const texts =
        (await looseBlobs(objects, wanted, bounds)) ??
        (await readBlobs(repository, ownDir, await fitting(repository, ownDir, wanted, bounds)));
      return new Map(
        paths.flatMap((path): [string, string][] => {
          const text = texts.get(ids.get(path) ?? '');
          return text === undefined ? [] : [[path, text]];
        }),
      );
    },
  };
}

/** The files of a commit if all its trees are loose; null if some are not, or there are too many. */
async function looseFiles(objectsDirs: readonly string[], commit: string): Promise<TreeEntry[] | null> {
  const root = await looseTreeOf(objectsDirs, commit, gitLimits.commitBytes);
  const files: TreeEntry[] = [];
  const trees = root === null ? null : [{ path: '', id: root }];
  let left: number = gitLimits.looseTrees;
  for (let tree = trees?.shift(); tree !== undefined; tree = trees?.shift()) {
    left -= 1;
    const entries = left < 0 ? null : await looseTree(objectsDirs, tree.id, gitLimits.looseTreeBytes);
    if (entries === null) return null;
    for (const { mode, name, id } of entries) {
      const path = `${tree.path}${Buffer.from(name, 'latin1').toString('utf8')}`;
      if (mode === '040000') trees?.push({ path: `${path}/`, id });
      else files.push({ mode, name: path, id });
    }
  }
  return trees === null ? null : files;
}

async function listFiles(repository: Repository, ownDir: string, commit: string): Promise<TreeEntry[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', checkCommitId(commit)];
  const listed = await runOnChain(repository, ownDir, args, { maxBytes: gitLimits.changedBytes, mayTruncate: true });
  return (listed.truncated ? [] : listed.stdout.split('\0')).flatMap((entry) => {
    const tab = entry.indexOf('\t');
    const [mode = '', type, id = ''] = entry.slice(0, tab).split(' ');
    return type === undefined ? [] : [{ mode, name: entry.slice(tab + 1), id }];
  });
}

type Bounds = { fileBytes: number; totalBytes: number };

/** The texts of blobs if all are loose and small enough, else null. */
async function looseBlobs(
  objectsDirs: readonly string[],
  ids: ReadonlySet<string>,
  { fileBytes, totalBytes }: Bounds,
): Promise<Map<string, string> | null> {
  const texts = new Map<string, string>();
  let room = totalBytes;
  if (ids.size > gitLimits.looseBlobs) return null;
  for (const id of ids) {
    const blob = await looseObject(objectsDirs, id, Math.min(fileBytes, room));
    if (blob?.type !== 'blob') return null;
    room -= blob.content.length;
    texts.set(id, blob.content.toString('utf8'));
  }
  return texts;
}

/** The blobs that are small enough, in request order. */
async function fitting(
  repository: Repository,
  ownDir: string,
  ids: ReadonlySet<string>,
  { fileBytes, totalBytes }: Bounds,
): Promise<string[]> {
  if (ids.size === 0) return [];
  const input = Buffer.from([...ids, ''].join('\n'));
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer'];
  const { stdout } = await runOnChain(repository, ownDir, args, { input });
  let room = totalBytes;
  return stdout.split('\n').flatMap((line) => {
    const [id = '', size = ''] = line.split(' ');
    if (!/^\d+$/.test(size) || Number(size) > Math.min(fileBytes, room)) return [];
    room -= Number(size);
    return [id];
  });
}

async function readBlobs(repository: Repository, ownDir: string, ids: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  if (ids.length === 0) return texts;
  const options = { input: Buffer.from([...ids, ''].join('\n')), asBytes: true, maxBytes: gitLimits.outputBytes };
  const { stdout } = await runOnChain(repository, ownDir, ['cat-file', '--batch', '--buffer'], options);
  for (let at = 0; ;) {
    const end = stdout.indexOf('\n', at);
    if (end === -1) return texts;
    const [id = '', , size] = stdout.slice(at, end).split(' ');
    // A missing id is answered by a single line.
    at = end + 1 + (size === undefined ? 0 : Number(size) + 1);
    if (size !== undefined) texts.set(id, Buffer.from(stdout.slice(end + 1, at - 1), 'latin1').toString('utf8'));
  }
}
