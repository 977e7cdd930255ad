import { planQueue } from '@pawl/core/queue/queue-plan';
import { limits } from '@pawl/schema/limit';
import { openChecks } from '@pawl/store/changes/checks';
import { updateQueue } from '@pawl/store/changes/queues';
import { perform, settleMisfits } from './queue-acts.ts';
import { advanceTo, waitFor } from './queue-advance.ts';
import { checkApart } from './queue-apart.ts';
import { startChecks } from './queue-checks.ts';
import { examineAll } from './queue-examine.ts';
import type { QueueParts, QueueState } from './queue-state.ts';
import { readState } from './queue-state.ts';

/** The result of a pass: the delay before the next one, and whether a requested check of main was done. */
export type QueueResult = { againMs: number | null; isAnswered: boolean };

/**
 * Runs the steps of a project's queue that are possible now. Call it in the project's lane. Each step stores facts from
 * which the next pass continues, so it may stop anywhere.
 */
export async function runQueue(parts: QueueParts): Promise<QueueResult> {
  for (let steps = 0; steps < limits.queueSteps; steps += 1) {
    const state = await readState(parts);
    if (state === null) return { againMs: null, isAnswered: true };
    if (await settleMisfits(parts, [state.chain, ...state.apart.map(({ chain }) => chain)])) continue;
    await noteMain(parts, state);
    const plan = state.queue.pausedAt === null ? planQueue(state.facts) : [];
    const [first] = plan;
    if (first === undefined || first.do === 'check') {
      // Include changes that just arrived in the next check.
      if (first !== undefined && (await examineAll(parts))) continue;
      await cancelStale(parts, state);
      await startChecks(parts, state, plan);
      if (state.queue.pausedAt === null && (await checkApart(parts, state))) continue;
      await waitFor(
        parts,
        state.queue,
        parts.forge?.is === 'unreachable' ? { reason: parts.forge.reason, hint: null, changes: [] } : null,
      );
      const main = state.facts.evidence(state.facts.main);
      return { againMs: null, isAnswered: main.isGreen || main.reds >= 2 };
    }
    if (first.do === 'advance') return { againMs: await advanceTo(parts, state, first.length), isAnswered: false };
    await perform(parts, state, first);
  }
  return { againMs: parts.platform.timing.queueWaitMs, isAnswered: false };
}

/** Cancels checks of trees that are no longer needed: main has moved, or a change was withdrawn. */
async function cancelStale(
  { platform, project, checker, config }: QueueParts,
  { chain, apart, slow }: QueueState,
): Promise<void> {
  const links = [chain, ...apart.map((each) => each.chain)].flatMap((each) => each.links);
  const wanted = new Set([chain.mainTree, ...links.map(({ tree }) => tree)]);
  for (const check of await openChecks(platform.store.db, project.id)) {
    if ((wanted.has(check.tree) && check.plan === config.plan) || check.id === slow?.id) continue;
    await checker.cancel(check.id, 'its result is no longer needed');
  }
}

/** Records the last green main with its test count, as the baseline for later changes. */
async function noteMain({ platform, project, target }: QueueParts, { queue, facts }: QueueState): Promise<void> {
  const { isGreen, counts } = facts.evidence(facts.main);
  if (!isGreen || queue.emergency !== null) return;
  if (queue.green === target.tip && JSON.stringify(queue.counts) === JSON.stringify(counts)) return;
  await platform.store.write((tx) => updateQueue(tx, project.id, { green: target.tip, counts }));
}
