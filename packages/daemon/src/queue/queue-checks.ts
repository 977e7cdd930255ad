import type { QueueStep } from '@pawl/core/queue/queue-plan';
import { importCommits } from '@pawl/git/merge/queue-objects';
import type { Chain } from '../changes/guard/chain.ts';
import { commitOfChain } from '../changes/guard/chain.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/** Starts the checks that a plan asks for. */
export async function startChecks(
  { project, repository, ownDir, config, checker, target }: QueueParts,
  { chain, context }: Pick<QueueState, 'context'> & { chain: Chain },
  plan: readonly QueueStep[],
): Promise<void> {
  for (const step of plan) {
    if (step.do !== 'check') continue;
    const links = step.what === 'main' ? [] : chain.links.slice(0, step.what);
    const commit = await commitOfChain(context, chain, links.length);
    const tree = links.at(-1)?.tree ?? chain.mainTree;
    const changes = links.map(({ change }) => change.id);
    // Import the commit, since the person's git may prune what no branch contains.
    await importCommits(repository, ownDir, { tips: [commit], not: [target.tip] });
    await checker.start({ project, repository, commit, tree, onto: target.tip, changes, config });
  }
}
