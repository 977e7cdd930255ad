import { lstatSync, type BigIntStats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { gitLimits } from '../command/limit.ts';

/**
 * The stat of a file or symbolic link. Names are byte strings (one character per byte), because a name may not be
 * UTF-8.
 */
export type FileFact = {
  name: string;
  mode: number;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
  dev: bigint;
  ino: bigint;
  uid: bigint;
  gid: bigint;
};

/** The path of a name below a directory, as bytes. */
export function pathOf(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
}

/** True for a name that stays below the root and outside every git directory. An index can contain any text. */
export function isInside(name: string): boolean {
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}

/**
 * Stats files and symbolic links below a directory. Skips missing ones, other types (directories, pipes), and paths
 * through a symbolic link.
 */
export async function lookAtFiles(root: string, names: Iterable<string>): Promise<Map<string, FileFact>> {
  const facts = new Map<string, FileFact>();
  const isRealDirectory = createDirectoryCheck(root);
  await inTurns(names, (name) => {
    const slash = name.lastIndexOf('/');
    if (slash !== -1 && !isRealDirectory(name.slice(0, slash))) return;
    const info = lookAt(pathOf(root, name));
    if (info !== null && (info.isFile() || info.isSymbolicLink())) facts.set(name, factOf(name, info));
  });
  return facts;
}

/** Checks, with a cache, whether a name below the root is a directory reached without following a link. */
export function createDirectoryCheck(root: string): (name: string) => boolean {
  const known = new Map<string, boolean>([['', true]]);
  const check = (name: string): boolean => {
    const answer = known.get(name);
    if (answer !== undefined) return answer;
    const slash = name.lastIndexOf('/');
    const isReached = slash === -1 || check(name.slice(0, slash));
    const isDirectory = isReached && lookAt(pathOf(root, name))?.isDirectory() === true;
    known.set(name, isDirectory);
    return isDirectory;
  };
  return check;
}

/** Runs short work for each item, yielding now and then. */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % gitLimits.filesPerTurn === 0) await nextTurn();
  }
}

/** True if a file was neither written nor replaced between two stats. */
export function isSameFact(one: FileFact | undefined, other: FileFact | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.mode === other.mode
  );
}

function factOf(name: string, info: BigIntStats): FileFact {
  const { size, mtimeNs, ctimeNs, dev, ino, uid, gid } = info;
  return { name, mode: Number(info.mode), size, mtimeNs, ctimeNs, dev, ino, uid, gid };
}

function lookAt(path: Buffer): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP')) return null;
    if (!hasErrno(error, 'EACCES', 'EPERM')) throw error;
    throw new PawlError('forbidden', `${path.toString()} cannot be read.`, {
      hint: 'Make its directory readable.',
      cause: error,
    });
  }
}
