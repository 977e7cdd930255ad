import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { throughCheckoutLimiter } from '../merge/checkout.ts';
import { runOnRawFiles } from '../command/command.ts';
import { inTurns, lookAtFiles, pathOf, type FileFact } from './file-fact.ts';
import { setFileTime } from './file-time.ts';
import { readIndexEntries, sealIndex, statFields } from './index-file.ts';
import { ensureRawDirectory } from '../merge/own-directory.ts';
import type { Registration } from '../worktree/registration.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { readRecord, type SnapshotRecord } from './snapshot-record.ts';

export type SnapshotCheckout = {
  ownDir: string;
  path: string;
  base: string;
  snapshot: { name: string; commit: string };
};

/**
 * Writes the raw files of a snapshot into a new worktree, and then the parent's index. The index comes last, by a
 * rename, so its presence means that all is done.
 */
export async function checkOutSnapshot(
  repository: Repository,
  registration: Registration,
  { ownDir, path, base, snapshot }: SnapshotCheckout,
): Promise<void> {
  const record = await readRecord(ownDir, snapshot.name, snapshot.commit);
  if (record.head !== base) {
    throw new PawlError('invalid_input', "A worktree from a snapshot must start at the snapshot's commit.", {
      hint: 'Use the snapshot’s head as the base.',
      details: { base, head: record.head },
    });
  }
  const { adminDir } = registration;
  const indexFile = join(adminDir, 'pawl-files');
  await removeDraft(indexFile);
  const rawDir = await ensureRawDirectory(repository, ownDir);
  const stores = { rawDir, objectsDir: record.objectsDir, otherObjects: [objectsDirOf(repository)] };
  const args = ['read-tree', '-u', '--reset', '--no-recurse-submodules', snapshot.commit];
  await throughCheckoutLimiter(() => runOnRawFiles({ ...stores, gitDir: adminDir, indexFile, path }, args));
  await removeDraft(indexFile);
  await dress(path, record);
  const draft = join(adminDir, 'pawl-index');
  await rm(draft, { force: true });
  // The name must be free: a link in its place would redirect the index.
  await writeFile(draft, await adaptIndex(path, record, repository.objectFormat), { flag: 'wx', mode: 0o644 });
  await utimes(draft, record.indexSeconds, record.indexSeconds);
  crashPoint('snapshot.after_index');
  await rename(draft, join(adminDir, 'index'));
}

async function removeDraft(indexFile: string): Promise<void> {
  await rm(`${indexFile}.lock`, { force: true });
  await rm(indexFile, { force: true });
}

/** Restores permissions and times of files, and empty directories of submodules. */
async function dress(path: string, { files, submodules }: SnapshotRecord): Promise<void> {
  await inTurns(submodules, (name) => mkdirSync(pathOf(path, name), { recursive: true }));
  await inTurns(files, (fact) => {
    const place = pathOf(path, fact.name);
    const info = lstatSync(place);
    const permissions = fact.mode & 0o777;
    if (info.isFile() && (info.mode & 0o777) !== permissions) chmodSync(place, permissions);
    setFileTime(place, fact.mtimeNs);
  });
}

/**
 * Makes the parent's index describe the child's files as it did the parent's. Git considers a file unchanged if time,
 * size, inode and so on match the index; the user's config decides which of them count. So field by field: what matched
 * the parent's file is made to match the child's, and what differed keeps differing.
 */
async function adaptIndex(path: string, record: SnapshotRecord, format: Repository['objectFormat']): Promise<Buffer> {
  const index = Buffer.from(record.index);
  const before = new Map(record.files.map((fact) => [fact.name, statOf(fact)]));
  const now = await lookAtFiles(path, before.keys());
  await inTurns(readIndexEntries(index, format), ({ name, offset }) => {
    const [was, is] = [before.get(name), now.get(name)];
    if (was === undefined || is === undefined) return;
    const stat = statOf(is);
    for (const field of statFields) {
      const at = offset + field.offset;
      const known = index.readUInt32BE(at);
      if (known === was[field.name]) index.writeUInt32BE(stat[field.name], at);
      else if (known === stat[field.name]) index.writeUInt32BE((known ^ 1) >>> 0, at);
    }
  });
  sealIndex(index, format);
  return index;
}

type IndexStat = Record<(typeof statFields)[number]['name'], number>;

function statOf(fact: FileFact): IndexStat {
  const low = (value: bigint) => Number(BigInt.asUintN(32, value));
  return {
    ctimeSeconds: low(fact.ctimeNs / 1_000_000_000n),
    ctimeNanoseconds: low(fact.ctimeNs % 1_000_000_000n),
    mtimeSeconds: low(fact.mtimeNs / 1_000_000_000n),
    mtimeNanoseconds: low(fact.mtimeNs % 1_000_000_000n),
    dev: low(fact.dev),
    ino: low(fact.ino),
    uid: low(fact.uid),
    gid: low(fact.gid),
    size: low(fact.size),
  };
}
