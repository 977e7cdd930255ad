import { obstacleOnForge } from '@pawl/core/queue/forge-plan';
import { fetchBranch } from '@pawl/git/repository/remote';
import type { Change } from '@pawl/schema/change';
import { forgeRulesOf } from './forge-context.ts';
import type { ForgeContext } from './forge-context.ts';
import { forgeFacts } from './forge-memory.ts';

export type MergedOnForge =
  /** Main contains it by this commit, which is fetched. */
  | { is: 'merged'; commit: string }
  /** Main was moved by someone else meanwhile. */
  | { is: 'behind' }
  /** An obstacle that every sync would see. */
  | { is: 'held'; reason: string }
  /** The forge refuses for a reason that is not visible beforehand. */
  | { is: 'refused'; reason: string }
  /** It conflicts with main there. */
  | { is: 'conflict'; reason: string };

/**
 * Merges a change on the forge, pinned to the checked head, onto the main it was checked with. An interrupted merge is
 * found done. Someone may still push between the last fetch of main and the merge, which the forge cannot exclude, so
 * main is checked afterwards if its tree is not the one that passed.
 */
export async function mergeOnForge(
  context: ForgeContext,
  change: Change,
  { ref, message }: { ref: string; message: string },
): Promise<MergedOnForge> {
  const { platform, link, target, config } = context;
  const { forge } = link;
  const there = await forge.view(ref);
  if (there.state === 'merged' && there.head === change.head && there.mergedCommit !== null) {
    await fetchMain(context);
    return { is: 'merged', commit: there.mergedCommit };
  }
  if (there.state !== 'open') return { is: 'held', reason: `it is ${there.state} there` };
  if (!link.mayMerge) return { is: 'refused', reason: 'you may not merge there; someone with permission must' };
  // Check again, right before the merge.
  const obstacle = obstacleOnForge(await forgeFacts(platform.store.db, change, there), forgeRulesOf(context));
  if (obstacle !== null) return { is: 'held', reason: obstacle };
  if ((await fetchMain(context)) !== target.tip) return { is: 'behind' };
  const [subject = change.title, ...rest] = message.split('\n');
  const body = rest.join('\n').trim();
  const done = await forge.merge(ref, { head: change.head, method: config.method, subject, body });
  if (done.do === 'queued') return { is: 'refused', reason: `the merge queue of ${forge.name} has it` };
  const tip = await fetchMain(context);
  if (done.do === 'merged') return { is: 'merged', commit: done.commit };
  // The refusal is about a main that has moved since.
  if (tip !== target.tip) return { is: 'behind' };
  // The forge also reports a conflict while mergeability is unknown.
  const isConflict = done.why === 'conflict' && (await forge.view(ref)).mergeable === 'no';
  return { is: isConflict ? 'conflict' : 'refused', reason: done.reason };
}

function fetchMain({ repository, ownDir, link, target }: ForgeContext): Promise<string | null> {
  return fetchBranch(repository, { ownDir, url: link.url, branch: target.branch });
}
