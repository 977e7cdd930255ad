import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { checksOfTrees, updateCheck } from '@pawl/store/changes/checks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { CheckContext } from './check-context.ts';
import { LeftToNext, untilThereIsRoom } from './check-context.ts';
import { freePlace } from './check-place.ts';

export type CheckEnd = Pick<Check, 'exitCode' | 'counts'> & {
  outcome: NonNullable<Check['outcome']>;
  detail: string;
};

/** Records the result of a check, with its event, once. Returns the ended check. */
export async function recordEnd(context: CheckContext, check: Check, how: CheckEnd): Promise<Check> {
  const write = async (tx: WriteTransaction) => {
    const patch = { ...how, endedAt: tx.now };
    if (!(await updateCheck(tx, check.id, patch))) return null;
    const flaky = how.outcome === 'passed' && (await hasFailedBefore(tx, check));
    const { outcome, detail, counts } = how;
    const data = { checkId: check.id, commit: check.commit, outcome, detail, counts, flaky };
    tx.emit({ type: 'check.ended', projectId: check.projectId, data });
    return { ...check, ...patch };
  };
  const { platform, place } = context;
  const ended = await untilThereIsRoom(
    context,
    () => platform.store.write(write),
    () => freePlace(place),
  );
  if (ended === null) throw new LeftToNext();
  crashPoint('check.after_result');
  return ended;
}

async function hasFailedBefore(tx: WriteTransaction, { projectId, plan, tree }: Check): Promise<boolean> {
  const before = await checksOfTrees(tx.db, { projectId, plan, trees: [tree] });
  return before.some(({ outcome }) => outcome === 'failed');
}
