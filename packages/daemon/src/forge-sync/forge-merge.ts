import { obstacleOnForge } from '@pawl/core/queue/forge-plan';
import { fetchBranch } from '@pawl/git/repository/remote';
import type { Change } from '@pawl/schema/change';
import { sceneOf } from './forge-bench.ts';
import type { ForgeBench } from './forge-bench.ts';
import { forgeSight } from './forge-memory.ts';

export type MergedOnForge =
  /** Main has it by this commit, which is fetched. */
  | { is: 'merged'; commit: string }
  /** Somebody else has moved main meanwhile. */
  | { is: 'behind' }
  /** Something there is against it, which every look at the forge would see. */
  | { is: 'held'; reason: string }
  /** The forge does not merge it, for a reason that nobody can see before. */
  | { is: 'refused'; reason: string }
  /** It does not go together with main there. */
  | { is: 'conflict'; reason: string };

/**
 * The last step of one change: merges it on the forge, pinned to the head that was checked, onto the main that it was checked
 * with. A merge that was cut short is found done. Between the last look at main and the merge somebody may still push: the
 * forge lets nobody exclude that, so main is checked after it wherever its tree is not the one that has passed.
 */
export async function mergeOnForge(
  bench: ForgeBench,
  change: Change,
  { ref, message }: { ref: string; message: string },
): Promise<MergedOnForge> {
  const { platform, link, target, config } = bench;
  const { forge } = link;
  const there = await forge.view(ref);
  if (there.state === 'merged' && there.head === change.head && there.mergedCommit !== null) {
    await fetchMain(bench);
    return { is: 'merged', commit: there.mergedCommit };
  }
  if (there.state !== 'open') return { is: 'held', reason: `it is ${there.state} there` };
  if (!link.mayMerge) return { is: 'refused', reason: 'you may not merge there; somebody who may has to' };
  // Looked at once more, right before it.
  const obstacle = obstacleOnForge(await forgeSight(platform.store.db, change, there), sceneOf(bench));
  if (obstacle !== null) return { is: 'held', reason: obstacle };
  if ((await fetchMain(bench)) !== target.tip) return { is: 'behind' };
  const [subject = change.title, ...rest] = message.split('\n');
  const body = rest.join('\n').trim();
  const done = await forge.merge(ref, { head: change.head, method: config.method, subject, body });
  if (done.do === 'queued') return { is: 'refused', reason: `the merge queue of ${forge.name} has it` };
  const tip = await fetchMain(bench);
  if (done.do === 'merged') return { is: 'merged', commit: done.commit };
  // Whatever they say, it is about a main that is not ours any more.
  if (tip !== target.tip) return { is: 'behind' };
  // They say so, too, while they have not found out yet.
  const isConflict = done.why === 'conflict' && (await forge.view(ref)).mergeable === 'no';
  return { is: isConflict ? 'conflict' : 'refused', reason: done.reason };
}

function fetchMain({ repository, ownDir, link, target }: ForgeBench): Promise<string | null> {
  return fetchBranch(repository, { ownDir, url: link.url, branch: target.branch });
}
