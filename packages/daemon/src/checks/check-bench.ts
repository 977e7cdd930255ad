import type { Check } from '@pawl/schema/change';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { CheckPatch } from '@pawl/store/changes/checks';
import { updateCheck } from '@pawl/store/changes/checks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../platform/platform.ts';
import type { CheckBounds } from './check-limit.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckPlace, Ending } from './check-place.ts';

/** What wakes a check that waits. */
type Bell = {
  ring(): void;
  /** Resolves when it rings, has rung since the last wait, or the time is over. */
  wait(mostMs: number): Promise<void>;
};

export function createBell(): Bell {
  let rung = Promise.withResolvers<void>();
  return {
    ring: () => rung.resolve(),
    async wait(mostMs) {
      const timer = setTimeout(rung.resolve, mostMs);
      await rung.promise;
      clearTimeout(timer);
      rung = Promise.withResolvers<void>();
    },
  };
}

/** What one check works with while this daemon looks after it. */
export type CheckBench = {
  platform: Platform;
  bounds: CheckBounds;
  place: CheckPlace;
  /** Names of variables that it may see beyond the usual ones. */
  names: readonly string[];
  bell: Bell;
  /** Why it is to be ended; null as long as nobody wants that. */
  ending: Ending | null;
  isClosed(): boolean;
};

/** Thrown where a check is left as it is, for the next daemon to go on with. */
export class LeftToNext extends Error {}

/** Tries something again as long as it fails for want of room, after making some where that can be done. */
export async function untilThereIsRoom<Result>(
  { platform, isClosed }: Pick<CheckBench, 'platform' | 'isClosed'>,
  work: () => Promise<Result>,
  makeRoom?: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    if (isClosed()) throw new LeftToNext();
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      platform.log.warn({ error: messageOf(error) }, 'what a check does could not be stored; it is tried again');
    }
    await makeRoom?.();
    await delay(checkLimits.retryMs);
  }
}

/** Puts facts of a check on record, and returns it with them. A check that has ended is left as it is. */
export async function note(bench: CheckBench, check: Check, patchAt: (now: number) => CheckPatch): Promise<Check> {
  const write = async (tx: WriteTransaction) => {
    const patch = patchAt(tx.now);
    return (await updateCheck(tx, check.id, patch)) ? patch : null;
  };
  const patch = await untilThereIsRoom(bench, () => bench.platform.store.write(write));
  if (patch === null) throw new LeftToNext();
  return { ...check, ...patch };
}
