import type { MainOnForge } from '@pawl/core/queue/forge-plan';
import { treeOf } from '@pawl/git/merge/merge-step';
import type { Check } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { checkById, checksOfTrees, insertCheck } from '@pawl/store/changes/checks';
import { queueOf } from '@pawl/store/changes/queues';
import type { Bench } from '../changes/landing/advance.ts';
import type { ForgeLink } from './forge.ts';
import type { ForgeBench } from './forge-bench.ts';

/** What the forge's own CI says about main, which no command of ours has run. */
const isForeign = ({ steps }: Check): boolean => steps.length === 0;

/** What the forge's CI said last of main, seen from where main is now. */
export function mainOnForge({ main }: ForgeLink, tip: string, now: number): MainOnForge | null {
  return main === null || main.tip === tip ? main : { ...main, tip, since: now };
}

/**
 * Puts on record that the forge's own CI has found main red, if that is not the last thing known of it. It counts as two
 * failures: what is red there halts the queue, whatever our checks say.
 */
export async function noteRedThere(bench: ForgeBench): Promise<void> {
  const { platform, project, repository, ownDir, target, config, link } = bench;
  const commit = target.tip;
  const known = await checksOfMain(bench);
  const last = known.findLast(({ outcome }) => outcome === 'passed' || outcome === 'failed');
  if (last !== undefined && isForeign(last) && last.commit === commit) return;
  const tree = await treeOf(repository, ownDir, commit);
  await platform.store.write(async (tx) => {
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

/** The commit that an alarm was sounded for, and whether that was because of the forge's own CI; null when there is none. */
export async function alarmOf({ platform, project }: Bench): Promise<{ commit: string; isTheirs: boolean } | null> {
  const { emergency } = (await queueOf(platform.store.db, project.id)) ?? { emergency: null };
  if (emergency === null) return null;
  const check = await checkById(platform.store.db, emergency.checkId);
  return { commit: emergency.commit, isTheirs: check !== null && isForeign(check) };
}

/** Whether none of our own checks has looked at main since the forge's CI found it red. */
export async function isUnanswered(bench: ForgeBench): Promise<boolean> {
  const last = (await checksOfMain(bench)).findLast(({ outcome }) => outcome !== 'cancelled');
  return last !== undefined && isForeign(last);
}

async function checksOfMain({ platform, project, repository, ownDir, target, config }: ForgeBench): Promise<Check[]> {
  const tree = await treeOf(repository, ownDir, target.tip);
  return checksOfTrees(platform.store.db, { projectId: project.id, plan: config.plan, trees: [tree] });
}
