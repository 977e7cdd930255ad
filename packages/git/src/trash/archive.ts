import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { capture, type Capture, type CaptureRequest } from '../snapshot/capture.ts';
import { runInOwnRepository, runOnRawFiles } from '../command/command.ts';
import { exclusionsOf } from '../repository/exclusion.ts';
import { gitLimits } from '../command/limit.ts';
import { isThere } from '../worktree/move.ts';
import { ensureOwnDirectory, ensureRawDirectory } from '../merge/own-directory.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import type { TrashNote } from './trash-note.ts';

export type ArchiveRequest = { entry: string; name: string; note: TrashNote | null; archiveTo: string };

/** The uncommitted content of a trash entry. */
type Work = { ownDir: string; otherObjects: readonly string[]; files: string | null; index: string | null };

/**
 * Archives the uncommitted content of an entry, if any; returns whether there was some. The archive is a self-contained
 * git bundle: `<name>.bundle` has the branch `files`, and `index` if something else was staged.
 */
export async function archiveWork(repository: Repository | null, request: ArchiveRequest): Promise<boolean> {
  const work = await findWork(repository, request);
  if (work.files === null && work.index === null) return false;
  const { name, note, archiveTo } = request;
  const { ownDir, otherObjects } = work;
  const run = (args: string[], input?: Buffer) =>
    runInOwnRepository(ownDir, otherObjects, args, input === undefined ? {} : { input });
  const refs: string[] = [];
  for (const [branch, tree] of [['files', work.files] as const, ['index', work.index] as const]) {
    if (tree === null) continue;
    const message = Buffer.from(`The ${branch} of ${name}\n\n${JSON.stringify(note, null, 2)}\n`);
    const { stdout } = await run(['commit-tree', '-F', '-', tree], message);
    await run(['update-ref', `refs/heads/${branch}`, stdout.trim()]);
    refs.push(`refs/heads/${branch}`);
  }
  await mkdir(archiveTo, { recursive: true, mode: 0o700 });
  const bundle = join(archiveTo, `${name}.bundle`);
  // A git that outlived its daemon may still write its own draft, so this one has a unique name.
  const draft = `${bundle}.${randomBytes(6).toString('hex')}.draft`;
  await removeDrafts(archiveTo, `${name}.bundle.`);
  await run(['bundle', 'create', '--quiet', draft, ...refs]);
  await run(['bundle', 'verify', '--quiet', draft]);
  const readme = `git clone --branch ${work.files === null ? 'index' : 'files'} ${name}.bundle <directory>`;
  await writeDurably(join(archiveTo, `${name}.json`), `${JSON.stringify({ ...note, name, readme }, null, 2)}\n`);
  await keepDurably(draft, bundle);
  return true;
}

/** Compares files and index with HEAD's commit; what cannot be compared counts as work. */
async function findWork(repository: Repository | null, { entry, note }: ArchiveRequest): Promise<Work> {
  const files = join(entry, 'files');
  const hasFiles = await isThere(files);
  if (!hasFiles) await mkdir(files, { mode: 0o700 });
  const objectFormat = repository?.objectFormat ?? (note?.commit?.length === 64 ? 'sha256' : 'sha1');
  const ownDir = join(entry, 'archive.git');
  const origin = { root: entry, objectFormat } as const;
  await ensureOwnDirectory(origin, ownDir);
  const otherObjects = repository === null ? [] : [objectsDirOf(repository)];
  const request: CaptureRequest = {
    objectFormat,
    rawDir: await ensureRawDirectory(origin, ownDir),
    objectsDir: join(ownDir, 'objects'),
    otherObjects,
    path: files,
    adminDir: join(entry, 'registration'),
    exclusions: repository === null ? ['--exclude-standard'] : await exclusionsOf(repository),
    scratch: join(entry, 'archive-scratch'),
  };
  const taken = await captureAnyhow(request);
  await refuseNested(files, taken);
  const index = taken.adminDir === null ? null : await indexTree(request);
  const head = await treeOf(ownDir, otherObjects, note?.commit ?? null);
  const isIndexWork = index !== null && index !== head && index !== taken.tree;
  return {
    ownDir,
    otherObjects,
    files: hasFiles && taken.tree !== head ? taken.tree : null,
    index: isIndexWork ? index : null,
  };
}

/** Captures the files; without a readable index all of them, including ignored ones. */
async function captureAnyhow(request: CaptureRequest): Promise<Capture & { adminDir: string | null }> {
  const whole = { ...request, adminDir: null, exclusions: [] };
  for (let attempt = 1; attempt <= gitLimits.snapshotAttempts; attempt += 1) {
    const { taken, adminDir } = await capture(request).then(
      (found) => ({ taken: found, adminDir: request.adminDir }),
      async (error: unknown) => {
        if (!(error instanceof PawlError) || error.code === 'too_large') throw tooMuch(request.path, error);
        if (!['git_failed', 'conflict'].includes(error.code)) throw error;
        return { taken: await capture(whole), adminDir: null };
      },
    );
    if (taken !== null) return { ...taken, adminDir };
  }
  throw new PawlError('busy', `Something is still writing in ${request.path}.`, { hint: 'End it, then prune again.' });
}

function tooMuch(path: string, error: unknown): unknown {
  if (!(error instanceof PawlError)) return error;
  return new PawlError('too_large', `There is more uncommitted work in ${path} than an archive may hold.`, {
    hint: 'Take out what you want to keep and delete the rest, then prune again.',
    cause: error,
  });
}

/** The staged tree; null if it has conflicts or missing objects. */
async function indexTree(request: CaptureRequest): Promise<string | null> {
  const view = { ...request, gitDir: request.scratch, indexFile: join(request.scratch, 'index') };
  const { exitCode, stdout } = await runOnRawFiles(view, ['write-tree'], { answers: [128] });
  return exitCode === 0 ? stdout.trim() : null;
}

async function treeOf(ownDir: string, otherObjects: readonly string[], commit: string | null): Promise<string | null> {
  if (commit === null) return null;
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
  const { exitCode, stdout } = await runInOwnRepository(ownDir, otherObjects, args, { answers: [1, 128] });
  return exitCode === 0 ? stdout.trim() : null;
}

/** A nested repository has its own history, which an archive of files does not keep. */
async function refuseNested(files: string, { carried }: Capture): Promise<void> {
  const names = [...carried.nested, ...carried.submodules].map((name) => Buffer.from(name, 'latin1').toString());
  for (const place of [files, ...names.map((name) => join(files, name))]) {
    if (!(await isThere(join(place, '.git')))) continue;
    throw new PawlError('conflict', `Another repository lies in the trash, in ${place}.`, {
      hint: 'Move it out or delete it yourself, then prune again. Our archive does not include its commits.',
    });
  }
}

async function removeDrafts(directory: string, prefix: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((file) => file.startsWith(prefix) && file.includes('.draft'));
  for (const file of drafts) await rm(join(directory, file), { force: true });
}

async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(`${path}.draft`, text, { mode: 0o600 });
  await keepDurably(`${path}.draft`, path);
}

/** Syncs a file to disk under its name, because its source is deleted next. */
async function keepDurably(draft: string, path: string): Promise<void> {
  await syncPath(draft);
  await rename(draft, path);
  await syncPath(dirname(path));
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes temporary files of an archive inside the entry. */
export async function removeArchiveScratch(entry: string): Promise<void> {
  for (const name of ['archive.git', 'archive.git.draft', 'archive-scratch']) {
    await rm(join(entry, name), { recursive: true, force: true });
  }
}
