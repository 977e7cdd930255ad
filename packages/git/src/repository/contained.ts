import { runInOwnRepository } from '../command/command.ts';
import { gitLimits } from '../command/limit.ts';
import { objectsDirOf, type Repository } from './repository.ts';

/** The given commits that a tip does not contain, or that do not exist. One command for all of them. */
export async function notContained(
  repository: Repository,
  ownDir: string,
  { commits, tip }: { commits: readonly string[]; tip: string },
): Promise<Set<string>> {
  if (commits.length === 0) return new Set();
  const others = [objectsDirOf(repository)];
  const present = await runInOwnRepository(ownDir, others, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: Buffer.from(`${commits.join('\n')}\n`),
  });
  const known = new Set(
    present.stdout.split('\n').flatMap((line) => (line.endsWith(' commit') ? [line.slice(0, line.indexOf(' '))] : [])),
  );
  const missing = commits.filter((commit) => !known.has(commit));
  if (known.size === 0) return new Set(missing);
  const args = ['rev-list', ...known, '--not', tip, '--'];
  const { stdout } = await runInOwnRepository(ownDir, others, args, { maxBytes: gitLimits.outputBytes });
  const outside = new Set(stdout.split('\n'));
  return new Set([...missing, ...[...known].filter((commit) => outside.has(commit))]);
}
