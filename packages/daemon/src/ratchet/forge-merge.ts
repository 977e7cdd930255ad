import { holdOnForge } from '@pawl/core/ratchet/forge-plan';
import { fetchBranch } from '@pawl/git/remote';
import type { Change } from '@pawl/schema/change';
import type { ForgeBench } from './forge-bench.ts';
import { forgeSight } from './forge-memory.ts';

/** `merged`: main has it by this commit, which is fetched. Anything else is what it waits for. */
export type MergedOnForge = { is: 'merged'; commit: string } | { is: 'behind' } | { is: 'waiting'; reason: string };

/**
 * The last step of one change: merges it on the forge, pinned to the head that was checked, onto the main that it was checked
 * with. A merge that was cut short is found done. Between the last look at main and the merge somebody may still push: the
 * forge lets nobody exclude that, so main is checked after it wherever its tree is not the one that has passed.
 */
export async function mergeOnForge(bench: ForgeBench, change: Change, message: string): Promise<MergedOnForge> {
  const { shop, repository, ownDir, link, target, config } = bench;
  const { forge, url } = link;
  const { branch, tip } = target;
  if (change.forgeRef === null) return waiting('it is not open there yet');
  const there = await forge.view(change.forgeRef);
  if (there.state === 'merged' && there.head === change.head && there.mergedCommit !== null) {
    await fetchBranch(repository, { ownDir, url, branch });
    return { is: 'merged', commit: there.mergedCommit };
  }
  if (there.state !== 'open') return waiting(`it is ${there.state} there`);
  if (!link.mayMerge) return waiting('you may not merge there; somebody who may has to');
  // Looked at once more, right before it.
  const sight = await forgeSight(shop.store.db, change, there);
  const obstacle = holdOnForge(sight, { target: branch, now: shop.clock() });
  if (obstacle !== null) return waiting(obstacle);
  if ((await fetchBranch(repository, { ownDir, url, branch })) !== tip) return { is: 'behind' };
  const [subject = change.title, ...rest] = message.split('\n');
  const body = rest.join('\n').trim();
  const done = await forge.merge(there.ref, { head: change.head, method: config.method, subject, body });
  if (done.do === 'queued') return waiting(`the merge queue of ${forge.name} has it`);
  if (done.do === 'refused') return done.why === 'base-moved' ? { is: 'behind' } : waiting(done.reason);
  await fetchBranch(repository, { ownDir, url, branch });
  return { is: 'merged', commit: done.commit };
}

function waiting(reason: string): MergedOnForge {
  return { is: 'waiting', reason };
}
