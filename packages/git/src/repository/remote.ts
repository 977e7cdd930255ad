import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { checkBranchName, checkRemoteName } from './branch-name.ts';
import { checkCommitId, runOnChain } from '../command/chain-command.ts';
import { readRemoteUrls, runInUserRepository, runOverNetwork, type GitOptions } from '../command/command.ts';
import { gitFailed } from '../command/git-failure.ts';
import { withLock } from '../command/lock.ts';
import { currentBranch, isContained } from '../merge/merge.ts';
import { isAncestor } from '../merge/merge-step.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import { hasCommit } from '../merge/queue-objects.ts';
import { pushRefused, unreachable } from './remote-failure.ts';
import { checkRemoteUrl } from './remote-url.ts';
import { branchExists, commitAt, objectsDirOf, type Repository } from './repository.ts';
import { gitLimits } from '../command/limit.ts';
import { createHash } from 'node:crypto';

type RemoteBranch = { ownDir: string; url: string; branch: string };

/** The URL of a remote of the user's repository; null if there is no such remote. */
export async function remoteUrl(repository: Repository, name: string): Promise<string | null> {
  const [url] = await readRemoteUrls(repository.commonDir, checkRemoteName(name));
  return url === undefined ? null : checkRemoteUrl(url, repository.root);
}

/**
 * Fetches a remote's branch into Pawl's own git directory and returns its commit; null if the remote has no such
 * branch. Does not change the user's repository. Transfers nothing if the commit is already known.
 */
export async function fetchBranch(repository: Repository, remote: RemoteBranch): Promise<string | null> {
  const { ownDir, branch } = remote;
  const url = checkRemoteUrl(remote.url, repository.root);
  await ensureOwnDirectory(repository, ownDir);
  return withLock(`fetch:${ownDir}`, async () => {
    const tip = await remoteTip(repository, remote);
    if (tip === null || (await hasCommit(repository, ownDir, tip))) return tip;
    const own = `refs/pawl/fetched/${ownName(branch)}`;
    const known = await prepareFetch(repository, remote, own);
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
    const tips = known.map((commit) => `--negotiation-tip=${commit}`);
    const args = ['fetch', ...flags, ...tips, '--', url, `+refs/heads/${branch}:${own}`];
    const { exitCode, stderr } = await reach(repository, ownDir, args, { answers: [1, 128] });
    if (exitCode !== 0 && stderr.includes("couldn't find remote ref")) return null;
    if (exitCode !== 0) throw unreachable(url, gitFailed(args, exitCode, stderr));
    return (await runOnChain(repository, ownDir, ['rev-parse', '--verify', own])).stdout.trim();
  });
}

/**
 * Moves a remote's branch from one commit to a descendant, if it is still there; `from` is null for a new branch.
 * `behind`: another push came first. An interrupted push may be repeated. With `mayReplace` the new commit need not
 * be a descendant: for branches that only we write.
 */
export async function pushCommit(
  repository: Repository,
  request: RemoteBranch & { from: string | null; to: string; mayReplace?: boolean },
): Promise<'moved' | 'behind'> {
  const { ownDir, branch, from, to } = request;
  const url = checkRemoteUrl(request.url, repository.root);
  await ensureOwnDirectory(repository, ownDir);
  const isForward = from === null || request.mayReplace === true || (await isAncestor(repository, ownDir, from, to));
  if (!isForward) {
    throw new PawlError('conflict', `${to} does not contain ${from}: it would undo what ${branch} has.`, {
      hint: 'Fetch the branch and merge with it first.',
    });
  }
  const ref = `refs/heads/${checkBranchName(branch)}`;
  const flags = ['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--no-recurse-submodules'];
  // The lease makes git refuse if another push came first. It would also permit going back, which is ruled out above or
  // requested.
  const lease = `--force-with-lease=${ref}:${from ?? ''}`;
  const args = ['push', ...flags, lease, '--', url, `${checkCommitId(to)}:${ref}`];
  const { exitCode, stdout, stderr } = await reach(repository, ownDir, args, { answers: [1, 128] });
  if (exitCode === 0) return 'moved';
  const tip = await remoteTip(repository, request);
  if (tip === to) return 'moved';
  if (tip !== from) return 'behind';
  throw pushRefused(url, branch, `${stderr}\n${stdout}`, gitFailed(args, exitCode, stderr));
}

/** Updates the remote-tracking branch in the user's repository, as their own push would: forward only, if it exists. */
export async function trackRemote(
  repository: Repository,
  { remote, branch, commit }: { remote: string; branch: string; commit: string },
): Promise<void> {
  const ref = `refs/remotes/${checkRemoteName(remote)}/${checkBranchName(branch)}`;
  const before = await commitAt(repository, ref);
  if (before === null || (await isContained(repository, checkCommitId(commit), before))) return;
  const args = ['update-ref', '--no-deref', '-m', 'update by push', ref, commit, before];
  try {
    await runInUserRepository(repository.commonDir, args);
  } catch (error) {
    // Another fetch has newer information.
    if ((await commitAt(repository, ref)) === before) throw error;
  }
}

/**
 * The default target branch: main, else master, else origin's default branch, else the one checked out. `chosen` is an
 * earlier choice: it is kept, so that switching branches in the checkout does not change the target.
 */
export async function defaultBranch(repository: Repository, chosen: string | null = null): Promise<string> {
  for (const name of ['main', 'master']) if (await branchExists(repository, name)) return name;
  const remote = await remoteDefault(repository);
  if (remote !== null) return remote;
  if (chosen !== null && (await branchExists(repository, chosen))) return chosen;
  const current = await currentBranch(repository);
  if (current !== null && (await commitAt(repository, `refs/heads/${current}`)) !== null)
    return checkBranchName(current);
  throw new PawlError('not_found', `The main branch of ${repository.root} is ambiguous.`, {
    hint: 'Name it: `queue: {branch: …}` in .pawl/config.yaml.',
  });
}

/** Origin's default branch, as recorded by a clone; null if unknown, or if the repository has no such branch. */
async function remoteDefault(repository: Repository): Promise<string | null> {
  const args = ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'];
  const { exitCode, stdout } = await runInUserRepository(repository.commonDir, args, { answers: [1] });
  const name = exitCode === 0 ? (/^refs\/remotes\/origin\/(.+)\n$/.exec(stdout)?.[1] ?? null) : null;
  return name !== null && (await branchExists(repository, name)) ? name : null;
}

/** A branch as one part of our own ref; hashed if it is too long for a file name. */
function ownName(branch: string): string {
  const name = encodeURIComponent(branch);
  return name.length <= gitLimits.branchBytes ? name : createHash('sha256').update(branch).digest('hex');
}

/** The commit of a remote's branch; null if it has no such branch. */
async function remoteTip(repository: Repository, { ownDir, url, branch }: RemoteBranch): Promise<string | null> {
  const address = checkRemoteUrl(url, repository.root);
  const ref = `refs/heads/${checkBranchName(branch)}`;
  const { stdout } = await reach(repository, ownDir, ['ls-remote', '--quiet', '--', address, ref]).catch(
    (error: unknown) => {
      throw unreachable(address, error);
    },
  );
  // A pattern also matches the ends of names.
  const line = stdout.split('\n').find((each) => each.endsWith(`\t${ref}`));
  return line === undefined ? null : checkCommitId(line.slice(0, line.indexOf('\t')));
}

/**
 * Points a ref of our own to what we have, so that git requests only the rest. Returns the commits that the remote may
 * know.
 */
async function prepareFetch(repository: Repository, { ownDir, branch }: RemoteBranch, own: string): Promise<string[]> {
  const known = await knownTips(repository, branch);
  const args = ['rev-parse', '--verify', '--quiet', `${own}^{commit}`];
  const { exitCode, stdout } = await runOnChain(repository, ownDir, args, { answers: [1, 128] });
  if (exitCode === 0) return [...known, stdout.trim()];
  const seed = known.at(-1);
  await runOnChain(repository, ownDir, seed === undefined ? ['update-ref', '-d', own] : ['update-ref', own, seed]);
  return known;
}

/** Commits of the user's repository that are probably close to a remote's branch; the closest last. */
async function knownTips(repository: Repository, branch: string): Promise<string[]> {
  const patterns = [`refs/heads/${branch}`, `refs/remotes/*/${branch}`];
  const args = ['for-each-ref', '--format=%(objectname) %(objecttype)', ...patterns];
  const { stdout } = await runInUserRepository(repository.commonDir, args);
  return stdout
    .split('\n')
    .filter((line) => line.endsWith(' commit'))
    .map((line) => line.slice(0, line.indexOf(' ')));
}

function reach(repository: Repository, ownDir: string, args: readonly string[], options: GitOptions = {}) {
  const shallowFile = join(repository.commonDir, 'shallow');
  return runOverNetwork(ownDir, [objectsDirOf(repository)], args, { ...options, shallowFile });
}
