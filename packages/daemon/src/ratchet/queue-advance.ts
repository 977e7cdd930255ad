import { isEligible } from '@pawl/core/ratchet/change-state';
import { treeOf } from '@pawl/git/merge-step';
import type { Queue } from '@pawl/schema/change';
import { changeById } from '@pawl/store/changes';
import { updateQueue } from '@pawl/store/queues';
import type { Database } from '@pawl/store/tables';
import type { Advanced } from './advance.ts';
import { advance, recordMerged } from './advance.ts';
import { commitOfChain, messageOfChange } from './chain.ts';
import { changeFacts, projectFacts } from './facts.ts';
import type { ForgeLink } from './forge.ts';
import { mergeOnForge } from './forge-merge.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/** Moves main to the chain's commit after so many links. Returns how soon to look again. */
export async function advanceTo(parts: QueueParts, state: QueueState, length: number): Promise<number> {
  const { target } = parts;
  const { chain, checks, queue } = state;
  const links = chain.links.slice(0, length);
  const tree = links.at(-1)?.tree;
  const check = checks.findLast((each) => each.tree === tree && each.outcome === 'passed');
  if (check === undefined) throw new Error(`no check of the tree ${tree} has passed`);
  const to = await commitOfChain(state.bench, chain, length);
  const changes = links.map(({ change }) => ({ id: change.id, head: change.head }));
  const wanted = { from: target.tip, to, checkId: check.id, changes };
  const isStillWanted = (db: Database) => areEligible(db, parts, changes);
  const done =
    parts.forge === null
      ? await advance(parts, wanted, isStillWanted)
      : (await isStillWanted(parts.shop.store.db))
        ? await advanceOnForge(parts, parts.forge, wanted)
        : ({ is: 'behind' } as const);
  if (done.is === 'moved') parts.wake(done.wake);
  if (done.is !== 'waiting') return 0;
  await waitFor(parts, queue, { reason: done.reason, changes: changes.map(({ id }) => id) });
  return parts.shop.timing.queueWaitMs;
}

/** Whether changes may still go in, at these very heads. */
async function areEligible(
  db: Database,
  { project, config }: QueueParts,
  wanted: readonly { id: string; head: string }[],
): Promise<boolean> {
  const facts = await projectFacts(db, project.id, config);
  if (facts.queue === null || facts.queue.pausedAt !== null) return false;
  for (const { id, head } of wanted) {
    const change = await changeById(db, id);
    if (change?.head !== head || !isEligible(await changeFacts(db, change, facts))) return false;
  }
  return true;
}

/** Lets the forge merge a change. What it makes of it is looked at as somebody else's push is, unless it is what was checked. */
async function advanceOnForge(
  parts: QueueParts,
  link: ForgeLink,
  wanted: NonNullable<Queue['advance']>,
): Promise<Advanced> {
  const { shop, repository, ownDir, config } = parts;
  const change = await changeById(shop.store.db, wanted.changes[0]?.id ?? '');
  if (change === null) return { is: 'behind' };
  const done = await mergeOnForge({ ...parts, config, link }, change, messageOfChange(change));
  if (done.is !== 'merged') return done;
  const [made, checked] = [done.commit, wanted.to].map((commit) => treeOf(repository, ownDir, commit));
  const isChecked = (await made) === (await checked);
  return { is: 'moved', wake: await recordMerged(parts, { ...wanted, to: done.commit }, isChecked) };
}

/** Notes what a green result waits for, or that none does. */
export async function waitFor({ shop, project }: QueueParts, queue: Queue, waiting: Queue['waiting']): Promise<void> {
  if (JSON.stringify(waiting) === JSON.stringify(queue.waiting)) return;
  await shop.store.write(async (tx) => {
    await updateQueue(tx, project.id, { waiting });
    if (waiting === null || waiting.reason === queue.waiting?.reason) return;
    tx.emit({ type: 'queue.waiting', projectId: project.id, data: { reason: waiting.reason } });
  });
}
