import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { runForUserRepository, runInOwnRepository, type GitOptions } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { ensureOwnDirectory } from './own-directory.ts';
import { looseObject } from '../repository/loose-object.ts';
import { objectsDirOf, type Repository } from '../repository/repository.ts';
import { withScratch } from '../command/scratch.ts';

/** An object store: its directory, and git with access to this store only. */
type Place = {
  objectsDir: string;
  run: (args: readonly string[], options?: GitOptions) => ReturnType<typeof runInOwnRepository>;
};

/**
 * Copies commits with their objects from the user's repository into Pawl's own git directory, except those in `not`, so
 * that the queue keeps them whatever the user deletes.
 */
export async function importCommits(
  repository: Repository,
  ownDir: string,
  range: { tips: readonly string[]; not: readonly string[] },
): Promise<void> {
  await ensureOwnDirectory(repository, ownDir);
  const own: Place = {
    objectsDir: join(ownDir, 'objects'),
    run: (args, options) => runInOwnRepository(ownDir, [], args, options),
  };
  await carry(repository, ownDir, own, range);
}

/** Copies a commit with its objects, except those in `not`, from Pawl's own git directory to the user's. */
export async function exportCommits(
  repository: Repository,
  ownDir: string,
  { tip, not }: { tip: string; not: readonly string[] },
): Promise<void> {
  await ensureOwnDirectory(repository, ownDir);
  const objectsDir = objectsDirOf(repository);
  const users: Place = {
    objectsDir,
    run: (args, options) => runForUserRepository(ownDir, objectsDir, args, options),
  };
  await carry(repository, ownDir, users, { tips: [tip], not });
}

/** True if a commit exists in Pawl's own git directory or in the user's repository. */
export async function hasCommit(repository: Repository, ownDir: string, commit: string): Promise<boolean> {
  await ensureOwnDirectory(repository, ownDir);
  const object = await looseObject(chainObjects(repository, ownDir), commit, gitLimits.commitBytes);
  if (object?.type === 'commit') return true;
  const args = ['cat-file', '-e', `${checkCommitId(commit)}^{commit}`];
  return (await runOnChain(repository, ownDir, args, { answers: [1, 128] })).exitCode === 0;
}

/**
 * Copies the missing objects of a commit range to a store. Checks each object, so an interrupted copy is completed by
 * the next one. Each object is rehashed on arrival.
 */
async function carry(
  repository: Repository,
  ownDir: string,
  place: Place,
  { tips, not }: { tips: readonly string[]; not: readonly string[] },
): Promise<void> {
  const lines = [...tips.map(checkCommitId), ...not.map((commit) => `^${checkCommitId(commit)}`)];
  const input = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const args = ['rev-list', '--objects', '--no-object-names', '--stdin'];
  const { stdout } = await runOnChain(repository, ownDir, args, { input, maxBytes: gitLimits.objectListBytes });
  const lacking = await lackingOf(place, stdout);
  if (lacking.length === 0) return;
  await withScratch(ownDir, async (scratch) => {
    const ids = Buffer.from(lacking.map((id) => `${id}\n`).join(''));
    const pack = await runOnChain(repository, ownDir, ['pack-objects', '-q', join(scratch, 'pack')], { input: ids });
    const inputFile = join(scratch, `pack-${pack.stdout.trim()}.pack`);
    const isSmall = lacking.length <= gitLimits.looseObjects;
    await place.run(isSmall ? ['unpack-objects', '-q'] : ['index-pack', '--stdin'], { inputFile });
  });
  // A damaged object arrived under another name.
  const [missing] = await lackingOf(place, lacking.join('\n'));
  if (missing === undefined) return;
  throw new PawlError('git_failed', `The object ${missing} of ${repository.root} is damaged.`, {
    hint: 'Run `git fsck` there.',
    details: { object: missing },
  });
}

/** True for a loose object. A crash can leave an empty file, which is none. */
function isLoose(objectsDir: string, id: string): boolean {
  const file = lstatSync(join(objectsDir, id.slice(0, 2), id.slice(2)), { throwIfNoEntry: false });
  return file !== undefined && file.isFile() && file.size > 0;
}

/** The given objects that a store lacks. */
async function lackingOf(place: Place, ids: string): Promise<string[]> {
  const unseen = ids.split('\n').filter((id) => id !== '' && !isLoose(place.objectsDir, id));
  if (unseen.length === 0) return [];
  const input = Buffer.from(unseen.map((id) => `${id}\n`).join(''));
  const args = ['cat-file', '--batch-check=%(objectname)', '--buffer'];
  const { stdout } = await place.run(args, { input, maxBytes: 2 * gitLimits.objectListBytes });
  return stdout
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
    .map((line) => line.slice(0, -' missing'.length));
}
