import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { findCarriedFiles, type CarriedFiles } from './carried-files.ts';
import { runOnRawFiles, type GitOutput, type RawView } from '../command/command.ts';
import { isSameFact, lookAtFiles, type FileFact } from './file-fact.ts';
import { complaintOf } from '../command/git-failure.ts';
import { copyIndexPlainly, readIndexFile, type FoundIndex } from './index-copy.ts';
import { readIndexEntries, type IndexEntry } from './index-file.ts';
import { gitLimits } from '../command/limit.ts';
import type { Repository } from '../repository/repository.ts';

export type CaptureRequest = {
  objectFormat: Repository['objectFormat'];
  rawDir: string;
  /** Receives the contents. */
  objectsDir: string;
  otherObjects: readonly string[];
  /** The directory whose files are captured. */
  path: string;
  /** The location of its index; null if it has none, so that all its files count as untracked. */
  adminDir: string | null;
  /** Arguments of `ls-files` that define ignored files. */
  exclusions: readonly string[];
  /** A temporary directory; created here. */
  scratch: string;
};

export type Capture = {
  /** All carried files, raw. */
  tree: string;
  files: Map<string, FileFact>;
  carried: CarriedFiles;
  /** The index in its simplest form, with git's cached file data. */
  index: Buffer;
  /** When the index was written, which decides what git trusts in it. */
  indexMtimeNs: bigint;
};

/**
 * Stores the files of a work tree as they are, without writing there. Compares before and after; null means that
 * something changed in between and the caller should retry.
 */
export async function capture(request: CaptureRequest): Promise<Capture | null> {
  const { path, adminDir, objectFormat, scratch } = request;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  await writeFile(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
  const view = { ...request, gitDir: scratch, indexFile: join(scratch, 'index') };
  const found = await findIndex(request);
  try {
    if (adminDir === null) await runOnRawFiles(view, ['read-tree', '--empty']);
    else await copyIndexPlainly(view, found, adminDir);
  } catch (error) {
    if (!(await isSameIndex(request, found))) return null;
    throw error;
  }
  const index = (await readIndexFile(scratch))?.bytes ?? Buffer.alloc(0);
  const entries = readIndexEntries(index, objectFormat);
  const carried = await findCarriedFiles(view, entries, request.exclusions);
  const names = [...carried.tracked, ...carried.untracked];
  const files = await lookAtFiles(path, names);
  refuseTooMuch(path, { carried, files, entries, index });
  const added = await store({ ...view, indexFile: join(scratch, 'tree') }, [...files.keys()]);
  const after = await lookAtFiles(path, names);
  const isSame = names.every((name) => isSameFact(files.get(name), after.get(name)));
  if (!isSame || !(await isSameIndex(request, found))) return null;
  if ('error' in added) throw added.error;
  return { tree: added.tree, files, carried, index, indexMtimeNs: found.mtimeNs };
}

/** Stores files as they are and returns their tree, or the error. */
async function store(view: RawView, names: readonly string[]): Promise<{ tree: string } | { error: unknown }> {
  const input = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1');
  try {
    await runOnRawFiles(view, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
    const { stdout }: GitOutput = await runOnRawFiles(view, ['write-tree']);
    return { tree: stdout.trim() };
  } catch (error) {
    return { error: explainUnreadable(view.path, error) };
  }
}

/** Git says which file it could not open, but not what to do. */
function explainUnreadable(path: string, error: unknown): unknown {
  const line = /open\(".*"\): Permission denied/.exec(complaintOf(error))?.[0];
  if (line === undefined) return error;
  return new PawlError('forbidden', `A file in ${path} cannot be read: ${line}`, {
    hint: 'Make it readable, or ignore it (.gitignore).',
    cause: error,
  });
}

async function findIndex({ adminDir, path }: CaptureRequest): Promise<FoundIndex> {
  if (adminDir === null) return { bytes: Buffer.alloc(0), mtimeNs: 0n, identity: '' };
  const found = await readIndexFile(adminDir);
  if (found !== null) return found;
  throw new PawlError('conflict', `The files of ${path} were never written: it has no index.`, {
    hint: 'Run `git status` there; `git reset` creates an index.',
  });
}

async function isSameIndex({ adminDir }: CaptureRequest, found: FoundIndex): Promise<boolean> {
  return adminDir === null || (await readIndexFile(adminDir))?.identity === found.identity;
}

type Amount = Pick<Capture, 'carried' | 'files' | 'index'> & { entries: readonly IndexEntry[] };

/** Refuses before anything is stored. Unchanged tracked files are already in the repository. */
function refuseTooMuch(path: string, { carried, files, entries, index }: Amount): void {
  const knownSizes = new Map(entries.map((entry) => [entry.name, BigInt(index.readUInt32BE(entry.offset + 36))]));
  let bytes = 0n;
  for (const fact of files.values()) {
    const isKnown = carried.tracked.has(fact.name) && knownSizes.get(fact.name) === (fact.size & 0xffff_ffffn);
    if (!isKnown) bytes += fact.size;
  }
  if (carried.untracked.size <= gitLimits.snapshotFiles && bytes <= gitLimits.snapshotBytes) return;
  throw new PawlError('too_large', `${path} holds more than can be carried over.`, {
    hint: 'Ignore generated files (.gitignore), or commit first and fork without files.',
    details: {
      files: carried.untracked.size,
      maxFiles: gitLimits.snapshotFiles,
      bytes: Number(bytes),
      maxBytes: gitLimits.snapshotBytes,
    },
  });
}
