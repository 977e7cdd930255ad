import { planQueue } from '@pawl/core/queue/queue-plan';
import type { Change } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { updateChange } from '@pawl/store/changes/changes';
import { openChecks } from '@pawl/store/changes/checks';
import { about } from '../changes/change-now.ts';
import { unmoved } from '../changes/people.ts';
import { perform } from './queue-acts.ts';
import { startChecks } from './queue-checks.ts';
import type { QueueParts, QueueState } from './queue-state.ts';
import { evidenceFor, linksOf } from './queue-state.ts';

/**
 * Checks changes that may not be merged yet, each alone on top of main, in the slots that the queue leaves free. One
 * that passes is recorded and waits for a person; one that fails is ejected as usual. A result belongs to a tree, so a
 * later merge request needs no second check while main stays. Returns whether a change has been updated, so that the
 * queue must be read again.
 */
export async function checkApart(parts: QueueParts, state: QueueState): Promise<boolean> {
  let hasChanged = false;
  for (const { change, chain } of state.apart) {
    if (change.passedHead === change.head) continue;
    const { checks, evidence } = await evidenceFor(parts, chain);
    const links = linksOf(chain).map((link) => ({ ...link, isAlone: true }));
    const running = await runningNow(parts, state);
    const plan = planQueue({ ...state.facts, links, evidence, running, isAsked: false });
    const [first] = plan;
    if (first === undefined || first.do === 'check') {
      await startChecks(parts, { chain, context: state.context }, plan);
      continue;
    }
    hasChanged = true;
    if (first.do === 'advance') await notePassed(parts, change);
    else await perform(parts, { ...state, chain, checks }, first);
  }
  return hasChanged;
}

async function runningNow({ platform, project }: QueueParts, { slow }: QueueState): Promise<number> {
  return (await openChecks(platform.store.db, project.id)).filter(({ id }) => id !== slow?.id).length;
}

async function notePassed({ platform, target }: QueueParts, change: Change): Promise<void> {
  const { id, head } = change;
  await platform.store.write(async (tx) => {
    if ((await unmoved(tx.db, change)) === null) return;
    await updateChange(tx, id, { passedHead: head });
    tx.emit({ type: 'change.passed', ...about(change), data: { changeId: id, head, onto: target.tip } });
  });
  crashPoint('queue.after_pass');
}
