import { checkCommitId, runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import type { Repository } from './repository.ts';

/** The files of one commit, read by few git commands however many files are asked for. */
export type CommitFiles = {
  /** Ids of all files, links and submodules by path; empty where the repository has too many to list. */
  ids: ReadonlyMap<string, string>;
  /** Paths of links and of submodules. */
  links: ReadonlySet<string>;
  /** The texts of some files; one that is missing, too large, or beyond `totalBytes` is left out. The text of a link is its target. */
  read(paths: readonly string[], bounds: { fileBytes: number; totalBytes: number }): Promise<Map<string, string>>;
};

/** Lists the files of a commit. */
export async function commitFiles(repository: Repository, ownDir: string, commit: string): Promise<CommitFiles> {
  await ensureOwnDirectory(repository, ownDir);
  const args = ['ls-tree', '-r', '-z', '--full-tree', checkCommitId(commit)];
  const listed = await runOnChain(repository, ownDir, args, { maxBytes: gitLimits.changedBytes, mayTruncate: true });
  const ids = new Map<string, string>();
  const links = new Set<string>();
  for (const entry of listed.truncated ? [] : listed.stdout.split('\0')) {
    const tab = entry.indexOf('\t');
    const [mode, type, id = ''] = entry.slice(0, tab).split(' ');
    if (type === undefined) continue;
    ids.set(entry.slice(tab + 1), id);
    if (mode === '120000' || type === 'commit') links.add(entry.slice(tab + 1));
  }
  return {
    ids,
    links,
    read: async (paths, bounds) => {
      const wanted = new Set(paths.flatMap((path) => ids.get(path) ?? []));
      const texts = await readBlobs(repository, ownDir, await fitting(repository, ownDir, wanted, bounds));
      return new Map(
        paths.flatMap((path): [string, string][] => {
          const text = texts.get(ids.get(path) ?? '');
          return text === undefined ? [] : [[path, text]];
        }),
      );
    },
  };
}

/** Those blobs that are small enough, in the order in which they were asked for. */
async function fitting(
  repository: Repository,
  ownDir: string,
  ids: ReadonlySet<string>,
  { fileBytes, totalBytes }: { fileBytes: number; totalBytes: number },
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
    // The answer to an id that is not there is a line alone.
    at = end + 1 + (size === undefined ? 0 : Number(size) + 1);
    if (size !== undefined) texts.set(id, Buffer.from(stdout.slice(end + 1, at - 1), 'latin1').toString('utf8'));
  }
}
