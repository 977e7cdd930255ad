import { treeOf } from '@pawl/git/merge-step';
import type { Check } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { checksOfTrees, insertCheck } from '@pawl/store/checks';
import type { ForgeBench } from './forge-bench.ts';

/** What the forge's own CI says about main, which no command of ours has run. */
const isForeign = ({ steps }: Check): boolean => steps.length === 0;

/**
 * Puts on record that the forge's own CI has found main red, once for each commit. It counts as two failures: what is red
 * there halts the queue, whatever our checks say.
 */
export async function noteRedThere({
  shop,
  project,
  repository,
  ownDir,
  target,
  config,
  link,
}: ForgeBench): Promise<void> {
  const commit = target.tip;
  const tree = await treeOf(repository, ownDir, commit);
  const known = await checksOfTrees(shop.store.db, { projectId: project.id, plan: config.plan, trees: [tree] });
  if (known.some((check) => isForeign(check) && check.commit === commit)) return;
  await shop.store.write(async (tx) => {
    for (let times = 0; times < 2; times++) {
      await insertCheck(tx, {
        id: newId(),
        projectId: project.id,
        commit,
        tree,
        plan: config.plan,
        steps: [],
        changes: [],
        onto: commit,
        plannedAt: tx.now,
        startedAt: tx.now,
        step: 0,
        stepStartedAt: null,
        pid: null,
        processStart: null,
        outputOffset: 0,
        outputBytes: 0,
        endedAt: tx.now,
        outcome: 'failed',
        exitCode: null,
        detail: `the checks of ${link.forge.name} failed`,
        counts: null,
      });
    }
  });
}

/** Whether an emergency was sounded because of the forge's own CI. */
export function isAlarmFromThere(check: Check | null): boolean {
  return check !== null && isForeign(check);
}
