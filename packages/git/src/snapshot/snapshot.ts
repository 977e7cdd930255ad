import { randomBytes } from 'node:crypto';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { crashPoint } from '@pawl/schema/crash-point';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { capture, type Capture, type CaptureRequest } from './capture.ts';
import { runOnRawFiles } from '../command/command.ts';
import { exclusionsOf } from '../repository/exclusion.ts';
import { gitLimits } from '../command/limit.ts';
import { withLock } from '../command/lock.ts';
import { ensureOwnDirectory, ensureRawDirectory } from '../merge/own-directory.ts';
import { headOf, objectsDirOf, type Repository } from '../repository/repository.ts';
import { describeCapture, digestOf, keepRecord, objectsIn, snapshotDirOf, snapshotsDirOf } from './snapshot-record.ts';
import { registrationAt } from '../worktree/worktree.ts';

export type SnapshotRequest = {
  /** Pawl's own git directory for this repository; created if missing. */
  ownDir: string;
  /** A linked worktree, or the main work tree. */
  path: string;
  /** The id of the agent that the snapshot is for. */
  name: string;
};

export type Snapshot = {
  /** HEAD at that time. */
  head: string;
  /** The files: a commit on top of `head`, in Pawl's own git directory. */
  commit: string;
};

/**
 * Saves the uncommitted state of a work tree, to create another worktree from: staged, unstaged and untracked files,
 * raw, with the index. Writes only in Pawl's own git directory. Taking it again under the same name replaces it; an
 * interrupted call leaves the earlier one unchanged.
 *   contents stored → record written → in place, by a rename → earlier ones removed
 */
export async function takeSnapshot(repository: Repository, { ownDir, path, name }: SnapshotRequest): Promise<Snapshot> {
  const place = snapshotDirOf(ownDir, name);
  const parent = await findParent(repository, path);
  return withLock(`snapshot:${place}`, async () => {
    await ensureOwnDirectory(repository, ownDir);
    const rawDir = await ensureRawDirectory(repository, ownDir);
    await removeDrafts(place);
    const draft = join(place, `draft-${randomBytes(6).toString('hex')}`);
    const objectsDir = objectsIn(draft);
    await mkdir(objectsDir, { recursive: true, mode: 0o700 });
    try {
      const stores = { rawDir, objectsDir, otherObjects: [objectsDirOf(repository)] };
      const { head, taken } = await captureStill(repository, parent, stores, join(draft, 'scratch'));
      const parts = describeCapture(head, taken);
      // The digest makes the commit's id cover the index, not only the files.
      const input = Buffer.from(`The files of ${parent.path}\n\nRecord: ${digestOf(parts)}\n`);
      const view = { ...stores, gitDir: rawDir, indexFile: join(draft, 'none'), path: parent.path };
      const args = ['commit-tree', '-p', head, '-F', '-', taken.tree];
      const commit = (await runOnRawFiles(view, args, { input })).stdout.trim();
      crashPoint('snapshot.after_objects');
      await rm(join(draft, 'scratch'), { recursive: true, force: true });
      await keepRecord(join(place, commit), draft, parts);
      await removeOthers(place, commit);
      return { head, commit };
    } catch (error) {
      await rm(draft, { recursive: true, force: true, maxRetries: 3 });
      throw error;
    }
  });
}

/** Removes a snapshot, if it exists; worktrees made from it stay. */
export async function dropSnapshot(ownDir: string, name: string): Promise<void> {
  const place = snapshotDirOf(ownDir, name);
  await withLock(`snapshot:${place}`, () => rm(place, { recursive: true, force: true, maxRetries: 3 }));
}

/** The names of all snapshots, including interrupted ones. */
export async function listSnapshots(ownDir: string): Promise<string[]> {
  const names = await readdir(snapshotsDirOf(ownDir)).catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  return names.filter((name) => idSchema.safeParse(name).success).sort();
}

type Parent = { path: string; adminDir: string };

async function findParent(repository: Repository, path: string): Promise<Parent> {
  const isMain = (await realpath(path).catch(() => path)) === repository.root;
  if (isMain && repository.bare) {
    throw new PawlError('invalid_input', `${repository.root} is a bare repository: it has no files.`, {
      hint: 'Name one of its worktrees; see `git worktree list`.',
    });
  }
  if (isMain) return { path: repository.root, adminDir: repository.commonDir };
  const registration = await registrationAt(repository, path);
  return { path: registration.path ?? path, adminDir: registration.adminDir };
}

/** Captures at a moment when neither files nor index nor HEAD change. */
async function captureStill(
  repository: Repository,
  parent: Parent,
  stores: Pick<CaptureRequest, 'rawDir' | 'objectsDir' | 'otherObjects'>,
  scratch: string,
): Promise<{ head: string; taken: Capture }> {
  const { objectFormat } = repository;
  const exclusions = await exclusionsOf(repository);
  for (let attempt = 1; attempt <= gitLimits.snapshotAttempts; attempt += 1) {
    const head = await headOf(parent.adminDir);
    if (head === null) throw withoutCommit(parent);
    const taken = await capture({ ...parent, ...stores, objectFormat, exclusions, scratch });
    if (taken !== null && (await headOf(parent.adminDir)) === head) return { head, taken };
    await delay(gitLimits.lockRetryMs * 2 ** (attempt - 1));
  }
  throw new PawlError('busy', `The files in ${parent.path} keep changing.`, {
    hint: 'Wait until the programs there have finished, or ignore the files they keep writing (.gitignore).',
  });
}

function withoutCommit({ path }: Parent): PawlError {
  return new PawlError('no_commits', `There is no commit yet in ${path}.`, {
    hint: 'Make a first commit there: git commit --allow-empty -m "first"',
  });
}

/** Removes drafts of killed calls. */
async function removeDrafts(place: string): Promise<void> {
  await mkdir(place, { recursive: true, mode: 0o700 });
  const drafts = (await readdir(place)).filter((entry) => entry.startsWith('draft-'));
  for (const entry of drafts) await rm(join(place, entry), { recursive: true, force: true, maxRetries: 3 });
}

async function removeOthers(place: string, commit: string): Promise<void> {
  const others = (await readdir(place)).filter((entry) => entry !== commit);
  for (const entry of others) await rm(join(place, entry), { recursive: true, force: true, maxRetries: 3 });
}
