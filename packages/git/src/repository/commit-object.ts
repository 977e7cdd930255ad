import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import { looseObject } from './loose-object.ts';
import { writeLooseObject } from './write-loose-object.ts';
import type { Repository } from './repository.ts';

/** A stored commit. Author, encoding and message are bytes, one character each, since they may be in any encoding. */
export type CommitObject = {
  tree: string;
  parents: string[];
  /** `name <address> seconds zone`. */
  author: string;
  encoding: string | null;
  message: string;
};

/** Reads the commit object itself, not a commit graph in somebody's repository. */
export async function readCommit(repository: Repository, ownDir: string, commit: string): Promise<CommitObject> {
  const loose = await looseCommitText(repository, ownDir, commit);
  if (loose !== null) return parseCommit(commit, loose);
  const options = { asBytes: true, maxBytes: gitLimits.commitBytes };
  const { stdout } = await runOnChain(repository, ownDir, ['cat-file', 'commit', checkCommitId(commit)], options);
  return parseCommit(commit, stdout);
}

/** The text of a loose commit; null if only git can tell. */
async function looseCommitText(repository: Repository, ownDir: string, commit: string): Promise<string | null> {
  const object = await looseObject(chainObjects(repository, ownDir), commit, gitLimits.commitBytes);
  return object?.type === 'commit' ? object.content.toString('latin1') : null;
}

/** Reads several commits, by at most one command. Skips those that are missing, not commits, or too large. */
export async function readCommits(
  repository: Repository,
  ownDir: string,
  commits: readonly string[],
): Promise<Map<string, CommitObject>> {
  const found = new Map<string, CommitObject>();
  const packed: string[] = [];
  for (const commit of new Set(commits.map(checkCommitId))) {
    const loose = await looseCommitText(repository, ownDir, commit);
    if (loose === null) packed.push(commit);
    else found.set(commit, parseCommit(commit, loose));
  }
  if (packed.length === 0) return found;
  const input = Buffer.from(packed.map((commit) => `${commit}\n`).join(''));
  const options = { input, asBytes: true, maxBytes: gitLimits.outputBytes, mayTruncate: true };
  const { stdout } = await runOnChain(repository, ownDir, ['cat-file', '--batch'], options);
  for (let at = 0; ;) {
    const end = stdout.indexOf('\n', at);
    if (end === -1) return found;
    const [id = '', type, size] = stdout.slice(at, end).split(' ');
    // A missing id is answered by a single line.
    at = end + 1 + (size === undefined ? 0 : Number(size) + 1);
    if (type === 'commit' && at <= stdout.length) found.set(id, parseCommit(id, stdout.slice(end + 1, at - 1)));
  }
}

function parseCommit(commit: string, text: string): CommitObject {
  const end = text.indexOf('\n\n');
  const head = (end === -1 ? text : text.slice(0, end)).split('\n');
  const fields = (name: string) =>
    head.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [tree] = fields('tree');
  if (tree === undefined)
    throw new PawlError('git_failed', `The commit ${commit} has no tree.`, { hint: 'Run `git fsck`.' });
  return {
    tree,
    parents: fields('parent'),
    author: fields('author')[0] ?? '',
    encoding: fields('encoding')[0] ?? null,
    message: end === -1 ? '' : text.slice(end + 2),
  };
}

/** Stores a commit in Pawl's own git directory, with Pawl as its committer. Equal content gives an equal id. */
export async function writeCommit(
  repository: Repository,
  ownDir: string,
  commit: Omit<CommitObject, 'author' | 'encoding'> & { author?: string; encoding?: string | null; atMs: number },
): Promise<string> {
  const pawl = signature('pawl <pawl@localhost>', commit.atMs);
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${commit.author ?? pawl}`,
    `committer ${pawl}`,
    ...(commit.encoding ? [`encoding ${commit.encoding}`] : []),
  ];
  // Git reads a message only up to the first NUL.
  const message = commit.message.replaceAll('\0', '').replace(/\n*$/, '\n');
  const content = Buffer.from(`${lines.join('\n')}\n\n${message}`, 'latin1');
  return writeLooseObject(join(ownDir, 'objects'), { type: 'commit', content }, repository.objectFormat);
}

/** Encodes our text as the bytes of a commit. */
export function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** A commit's author with another time. Falls back to Pawl for an author that git would reject. */
export function authorAt({ author }: CommitObject, atMs: number): string {
  return signature(/^([^<>\0]*[^<>\0 ][^<>\0]* <[^<>\0]*>)/.exec(author)?.[1] ?? 'pawl <pawl@localhost>', atMs);
}

/** A commit's author with the original time, if valid. */
export function authorOf(commit: CommitObject, atMs: number): string {
  const isWhole = /^[^<>\0]*[^<>\0 ][^<>\0]* <[^<>\0]*> (?:0|[1-9]\d{0,10}) [+-]\d{4}$/.test(commit.author);
  return isWhole ? commit.author : authorAt(commit, atMs);
}

function signature(who: string, atMs: number): string {
  return `${who} ${Math.floor(atMs / 1000)} +0000`;
}
