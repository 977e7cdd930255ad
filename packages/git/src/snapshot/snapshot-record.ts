import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import * as z from 'zod';
import type { Capture } from './capture.ts';
import { isInside, type FileFact } from './file-fact.ts';

/**
 * The content of a snapshot: the commit with the files, the index, and the stat of each file. It has its own objects,
 * so nothing remains when it is dropped.
 *   <ownDir>/pawl-snapshots/<name>/<commit>/objects   contents that the user's repository does not have
 *   <ownDir>/pawl-snapshots/<name>/<commit>/index     the parent's index in its simplest form
 *   <ownDir>/pawl-snapshots/<name>/<commit>/files     a record for each file, each ended by NUL
 *   <ownDir>/pawl-snapshots/<name>/<commit>/about.json
 */
export type SnapshotRecord = {
  head: string;
  index: Buffer;
  /** Whole seconds: git distrusts files written in the same second or later. */
  indexSeconds: number;
  files: FileFact[];
  submodules: string[];
  /** The objects of the commit. */
  objectsDir: string;
};

const aboutSchema = z.object({ version: z.literal(1), head: z.string(), indexSeconds: z.number().int() });

/** The directory of all snapshots in one own git directory. */
export function snapshotsDirOf(ownDir: string): string {
  return join(ownDir, 'pawl-snapshots');
}

/** The directory of snapshots with one name; validates a name from outside. */
export function snapshotDirOf(ownDir: string, name: string): string {
  if (idSchema.safeParse(name).success) return join(snapshotsDirOf(ownDir), name);
  throw new PawlError('invalid_input', 'The name of a snapshot is the id of an agent.', {
    hint: 'An id has 22 letters, digits, - or _.',
  });
}

/** The objects directory of a snapshot or its draft. */
export function objectsIn(place: string): string {
  return join(place, 'objects');
}

/** The metadata of a capture, as the files of a record. */
export function describeCapture(head: string, taken: Capture): Record<'index' | 'files' | 'about.json', Buffer> {
  const indexSeconds = Number(taken.indexMtimeNs / 1_000_000_000n);
  const records = [
    ...[...taken.files.values()].map(writeFact),
    ...taken.carried.submodules.map((name) => `submodule ${name}\0`),
  ];
  const about = JSON.stringify({ version: 1, head, indexSeconds } satisfies z.infer<typeof aboutSchema>);
  return { index: taken.index, files: Buffer.from(records.join(''), 'latin1'), 'about.json': Buffer.from(about) };
}

/** A hash of a record. */
export function digestOf(parts: Record<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const [name, bytes] of Object.entries(parts)) hash.update(`${name} ${bytes.length}\n`).update(bytes);
  return hash.digest('hex');
}

/** Completes a draft that already has the objects, and renames it into place. */
export async function keepRecord(place: string, draft: string, parts: Record<string, Buffer>): Promise<void> {
  for (const [name, bytes] of Object.entries(parts)) await writeFile(join(draft, name), bytes, { mode: 0o600 });
  try {
    await rename(draft, place);
  } catch (error) {
    // The commit's id covers the whole record, so an existing one is equal.
    if (!hasErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    await rm(draft, { recursive: true, force: true });
  }
}

export async function readRecord(ownDir: string, name: string, commit: string): Promise<SnapshotRecord> {
  const place = join(snapshotDirOf(ownDir, name), checkCommit(commit));
  try {
    const [index, files, about] = await Promise.all(
      ['index', 'files', 'about.json'].map((file) => readFile(join(place, file))),
    );
    const { head, indexSeconds } = aboutSchema.parse(JSON.parse(String(about)));
    const records = (files?.toString('latin1') ?? '').split('\0').slice(0, -1);
    return {
      head,
      indexSeconds,
      objectsDir: objectsIn(place),
      index: index ?? Buffer.alloc(0),
      files: records.filter((record) => !record.startsWith('submodule ')).map(readFact),
      submodules: records.filter((record) => record.startsWith('submodule ')).map((record) => record.slice(10)),
    };
  } catch (error) {
    throw new PawlError('not_found', `The snapshot ${name} of commit ${commit} is missing or unreadable.`, {
      hint: 'Take it again: fork once more.',
      cause: error,
    });
  }
}

function checkCommit(commit: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return commit;
  throw new PawlError('invalid_input', 'A snapshot is named by its full commit id.', { hint: 'Take it again.' });
}

function writeFact(fact: FileFact): string {
  const { mode, size, mtimeNs, ctimeNs, dev, ino, uid, gid, name } = fact;
  return `file ${[mode, size, mtimeNs, ctimeNs, dev, ino, uid, gid].join(' ')} ${name}\0`;
}

function readFact(record: string): FileFact {
  const parts = /^file (\d+) (\d+) (-?\d+) (-?\d+) (\d+) (\d+) (\d+) (\d+) ([^]+)$/.exec(record);
  if (parts === null || !isInside(parts[9] ?? '')) throw new Error('a record of a file cannot be read');
  const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, dev = 0n, ino = 0n, uid = 0n, gid = 0n] = parts.slice(2, 9).map(BigInt);
  return { mode: Number(parts[1]), size, mtimeNs, ctimeNs, dev, ino, uid, gid, name: parts[9] ?? '' };
}
