import { chainObjects, checkCommitId, runOnChain } from '../command/chain-command.ts';
import { gitLimits } from '../command/limit.ts';
import type { Repository } from './repository.ts';
import { straightLine } from './loose-history.ts';

export type NamedCommit = { commit: string; subject: string };

/**
 * The commits of a head that an old tip of a branch had and the branch lacks now; newest first, at most `most`. Empty
 * if the old tip no longer exists.
 */
export async function droppedCommits(
  repository: Repository,
  ownDir: string,
  { head, old, tip, most }: { head: string; old: string; tip: string; most: number },
): Promise<NamedCommit[]> {
  const shared = ['merge-base', '--all', checkCommitId(head), checkCommitId(old)];
  const bases = await runOnChain(repository, ownDir, shared, { answers: [1, 128] });
  const commits = bases.exitCode === 0 ? bases.stdout.trim().split('\n') : [];
  if (commits.length === 0) return [];
  const flags = ['--no-commit-header', '--format=%H %s', `--max-count=${most}`];
  const args = ['rev-list', ...flags, ...commits.map(checkCommitId), '--not', checkCommitId(tip), '--'];
  const { stdout } = await runOnChain(repository, ownDir, args, { maxBytes: gitLimits.outputBytes });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => ({
    commit: line.slice(0, line.indexOf(' ')),
    subject: line.slice(line.indexOf(' ') + 1),
  }));
}

/** How many commits a tip has that another commit lacks. */
export async function countAhead(
  repository: Repository,
  ownDir: string,
  { tip, of }: { tip: string; of: string },
): Promise<number> {
  const args = ['rev-list', '--count', checkCommitId(tip), '--not', checkCommitId(of), '--'];
  const line = await straightLine(chainObjects(repository, ownDir), { base: of, head: tip });
  if (line !== null) return line.length;
  return Number.parseInt((await runOnChain(repository, ownDir, args)).stdout, 10);
}
