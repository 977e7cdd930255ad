import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { readPlainFile } from './pointer-file.ts';

/**
 * Reads objects that lie in files of their own, as new ones do, without a git process. Every function returns null when only git can
 * tell: the object is packed, lent by another repository, missing, damaged or too large.
 */

const inflated = promisify(inflate);

export type LooseObject = { type: string; content: Buffer };

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** The longest header that git writes: a type, a size, a NUL. */
const headerBytes = 32;

/** Reads an object of at most `maxBytes` from the first directory that has it, and recomputes its id. */
export async function looseObject(
  objectsDirs: readonly string[],
  id: string,
  maxBytes: number,
): Promise<LooseObject | null> {
  if (!objectId.test(id)) return null;
  for (const directory of objectsDirs) {
    const found = await readFrom(join(directory, id.slice(0, 2), id.slice(2)), id, maxBytes);
    if (found !== null) return found;
  }
  return null;
}

async function readFrom(path: string, id: string, maxBytes: number): Promise<LooseObject | null> {
  const stored = await readPlainFile(path, maxBytes).catch(() => null);
  if (stored === null) return null;
  const bytes = await inflated(stored, { maxOutputLength: maxBytes + headerBytes }).catch(() => null);
  const end = bytes?.subarray(0, headerBytes).indexOf(0) ?? -1;
  if (bytes === null || end === -1) return null;
  const [type = '', size] = bytes.toString('latin1', 0, end).split(' ');
  const content = bytes.subarray(end + 1);
  if (Number(size) !== content.length || content.length > maxBytes) return null;
  const format = id.length === 40 ? 'sha1' : 'sha256';
  return createHash(format).update(bytes).digest('hex') === id ? { type, content } : null;
}

/** An entry of a tree; names are bytes, one character each. */
export type TreeEntry = { mode: string; name: string; id: string };

/** The entries of a tree. */
export async function looseTree(
  objectsDirs: readonly string[],
  id: string,
  maxBytes: number,
): Promise<TreeEntry[] | null> {
  const tree = await looseObject(objectsDirs, id, maxBytes);
  if (tree?.type !== 'tree') return null;
  const { content } = tree;
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space + 1);
    const next = end + 1 + id.length / 2;
    if (space === -1 || end === -1 || next > content.length) return null;
    entries.push({
      mode: content.toString('latin1', at, space).padStart(6, '0'),
      name: content.toString('latin1', space + 1, end),
      id: content.toString('hex', end + 1, next),
    });
    at = next;
  }
  return entries;
}

/** The id of a commit's tree. */
export async function looseTreeOf(
  objectsDirs: readonly string[],
  commit: string,
  maxBytes: number,
): Promise<string | null> {
  const object = await looseObject(objectsDirs, commit, maxBytes);
  if (object?.type !== 'commit') return null;
  return /^tree ([0-9a-f]{40,64})\n/.exec(object.content.toString('latin1', 0, 128))?.[1] ?? null;
}
