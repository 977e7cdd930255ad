import { runOnChain } from '../command/chain-command.ts';
import { gitFailed } from '../command/git-failure.ts';
import { gitLimits } from '../command/limit.ts';
import { needsNewerGit } from './merge.ts';
import type { Repository } from '../repository/repository.ts';

export type MergedTrees = { do: 'merged'; tree: string } | { do: 'conflict'; files: string[] };

/** Merges two commits into a tree, from their merge base. With `anyBase`, histories may be unrelated. */
export async function mergeTrees(
  repository: Repository,
  ownDir: string,
  ours: string,
  theirs: string,
  { anyBase = false } = {},
): Promise<MergedTrees> {
  const flags = [
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    ...(anyBase ? ['--allow-unrelated-histories'] : []),
  ];
  const args = ['merge-tree', ...flags, ours, theirs];
  const { exitCode, stdout, stderr } = await runOnChain(repository, ownDir, args, { answers: [1, 128, 129] });
  if (exitCode === 129) throw needsNewerGit();
  if (exitCode === 128 && stderr.includes('unrelated histories')) return { do: 'conflict', files: [] };
  if (exitCode === 128) throw gitFailed(args, exitCode, stderr);
  const [tree = '', ...files] = stdout.split('\0').filter((word) => word !== '');
  return exitCode === 1 ? { do: 'conflict', files: files.slice(0, gitLimits.namedFiles) } : { do: 'merged', tree };
}
