import { checkCommitId } from '../command/chain-command.ts';
import { mergeBase } from './change-diff.ts';
import { readHistory, walk } from './history.ts';
import { ensureOwnDirectory } from '../merge/own-directory.ts';
import type { Repository } from './repository.ts';

/**
 * The merge base of each tip with main; null if there is none. One pass over the history above main answers for all
 * tips, except those that merged main several times.
 */
export async function mergeBases(
  repository: Repository,
  { ownDir, main, tips }: { ownDir: string; main: string; tips: readonly string[] },
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  if (tips.length === 0) return found;
  await ensureOwnDirectory(repository, ownDir);
  const lines = [...tips.map(checkCommitId), `^${checkCommitId(main)}`];
  const above = await readHistory(repository, ownDir, { words: [], lines });
  for (const tip of tips) {
    // If its history ends in a single commit of main, everything in common comes through that one.
    const [first = null, ...others] = walk(above, [tip]).outside;
    found.set(tip, others.length === 0 ? first : await mergeBase(repository, ownDir, main, tip));
  }
  return found;
}
