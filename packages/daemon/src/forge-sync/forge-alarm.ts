import type { MainOnForge } from '@pawl/core/queue/forge-plan';
import { treeOf } from '@pawl/git/merge/merge-step';
import type { Check } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { checkById, checksOfTrees, insertCheck } from '@pawl/store/changes/checks';
import { queueOf } from '@pawl/store/changes/queues';
import type { LandingContext } from '../changes/landing/advance.ts';
import type { ForgeLink } from './forge.ts';
import type { ForgeContext } from './forge-context.ts';

/** True for a result of the forge's own CI, for which no command of ours ran. */
const isForeign = ({ steps }: Check): boolean => steps.length === 0;

/** The last CI result of main on the forge, relative to where main is now. */
export function mainOnForge({ main }: ForgeLink, tip: string, now: number): MainOnForge | null {
  return main === null || main.tip === tip ? main : { ...main, tip, since: now };
}

/**
 * Records that the forge's CI found main red, unless that is already the latest result. It counts as two failures: a
 * red main there halts the queue, whatever our checks say.
 */
export async function noteRedThere(context: ForgeContext): Promise<void> {
  const { platform, project, repository, ownDir, target, config, link } = context;
  const commit = target.tip;
  const known = await checksOfMain(context);
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

/** The commit of the current alarm, and whether the forge's CI caused it; null if there is none. */
export async function alarmOf({
  platform,
  project,
}: LandingContext): Promise<{ commit: string; isTheirs: boolean } | null> {
  const { emergency } = (await queueOf(platform.store.db, project.id)) ?? { emergency: null };
  if (emergency === null) return null;
  const check = await checkById(platform.store.db, emergency.checkId);
  return { commit: emergency.commit, isTheirs: check !== null && isForeign(check) };
}

/** True if none of our checks has run on main since the forge's CI found it red. */
export async function isUnanswered(context: ForgeContext): Promise<boolean> {
  const last = (await checksOfMain(context)).findLast(({ outcome }) => outcome !== 'cancelled');
  return last !== undefined && isForeign(last);
}

async function checksOfMain({ platform, project, repository, ownDir, target, config }: ForgeContext): Promise<Check[]> {
  const tree = await treeOf(repository, ownDir, target.tip);
  return checksOfTrees(platform.store.db, { projectId: project.id, plan: config.plan, trees: [tree] });
}
