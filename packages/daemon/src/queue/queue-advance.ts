import { isEligible } from '@pawl/core/changes/change-state';
import { mergeLeave } from '@pawl/core/changes/merge-leave';
import type { Queue } from '@pawl/schema/change';
import { queueWaitSchema } from '@pawl/schema/change';
import { changeById } from '@pawl/store/changes/changes';
import { updateQueue } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';
import { isDeepStrictEqual } from 'node:util';
import type { Advanced } from '../changes/landing/advance.ts';
import { advance } from '../changes/landing/advance.ts';
import { commitOfChain } from '../changes/guard/chain.ts';
import { changeFacts, projectFacts } from '../changes/facts.ts';
import { advanceOnForge, holdUnreachable } from '../forge-sync/forge-advance.ts';
import { passesFinalGuard } from './final-guard.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/** Moves main to the chain's commit after `length` links. Returns how soon to run the next pass. */
export async function advanceTo(parts: QueueParts, state: QueueState, length: number): Promise<number> {
  const { target } = parts;
  const { chain, checks, queue } = state;
  const links = chain.links.slice(0, length);
  const tree = links.at(-1)?.tree;
  const check = checks.findLast((each) => each.tree === tree && each.outcome === 'passed');
  if (check === undefined) throw new Error(`no check of the tree ${tree} has passed`);
  const to = await commitOfChain(state.context, chain, length);
  if (!(await passesFinalGuard(parts, state, { length, to }))) return 0;
  const changes = links.map(({ change }) => ({ id: change.id, head: change.head }));
  const wanted = { from: target.tip, to, checkId: check.id, changes, forgeRef: null };
  const done = await advanceThere(parts, wanted, (db) => areEligible(db, parts, changes));
  if (done.is !== 'waiting') return 0;
  await waitFor(parts, queue, { reason: done.reason, hint: done.hint, changes: changes.map(({ id }) => id) });
  return parts.platform.timing.queueWaitMs;
}

/** Moves main here or on the forge. While the forge is unreachable, main is not moved at all. */
async function advanceThere(
  parts: QueueParts,
  wanted: NonNullable<Queue['advance']>,
  isStillWanted: (db: Database) => Promise<boolean>,
): Promise<Advanced> {
  const { forge } = parts;
  if (forge === null) return advance(parts, wanted, isStillWanted);
  if (forge.is === 'there') return advanceOnForge(parts, forge.link, wanted, isStillWanted);
  return holdUnreachable(parts, forge, wanted);
}

/** True if the changes may still be merged, at exactly these heads. */
async function areEligible(
  db: Database,
  { project, config }: QueueParts,
  wanted: readonly { id: string; head: string }[],
): Promise<boolean> {
  const facts = await projectFacts(db, project.id, config);
  if (facts.queue === null || facts.queue.pausedAt !== null) return false;
  for (const { id, head } of wanted) {
    const change = await changeById(db, id);
    if (change?.head !== head) return false;
    const known = await changeFacts(db, change, facts);
    if (!isEligible(known) || mergeLeave(change, known.rules) !== 'granted') return false;
  }
  return true;
}

/** Records what a green result waits for, or clears that. */
export async function waitFor(
  { platform, project }: QueueParts,
  queue: Queue,
  wanted: Omit<NonNullable<Queue['waiting']>, 'since'> | null,
): Promise<void> {
  const known = queue.waiting;
  const isSameReason = wanted !== null && wanted.reason === known?.reason;
  const since = isSameReason ? known.since : platform.clock();
  const waiting = wanted === null ? null : queueWaitSchema.parse({ ...wanted, since });
  if (isDeepStrictEqual(waiting, known)) return;
  await platform.store.write(async (tx) => {
    await updateQueue(tx, project.id, { waiting });
    if (waiting === null || isSameReason) return;
    tx.emit({ type: 'queue.waiting', projectId: project.id, data: { reason: waiting.reason } });
  });
}
