import type { Check } from '@pawl/schema/change';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { CheckPatch } from '@pawl/store/changes/checks';
import { updateCheck } from '@pawl/store/changes/checks';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Platform } from '../platform/platform.ts';
import type { CheckBounds } from './check-limit.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckPlace, Ending } from './check-place.ts';

/** Wakes a waiting check. */
type Bell = {
  ring(): void;
  /** Resolves when it rings, has rung since the last wait, or after the timeout. */
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

/** The platform of checks: their output is masked. */
export type CheckPlatform = Platform & Pick<SessionPlatform, 'accounts'>;

/** The context of one check. */
export type CheckContext = {
  platform: CheckPlatform;
  bounds: CheckBounds;
  place: CheckPlace;
  /** Names of additional variables that it may see. */
  names: readonly string[];
  bell: Bell;
  /** Why to end it, or null. */
  ending: Ending | null;
  isClosed(): boolean;
};

/** Thrown when a check is left to the next daemon. */
export class LeftToNext extends Error {}

/** Retries something while it fails for lack of space, after freeing some if possible. */
export async function untilThereIsRoom<Result>(
  { platform, isClosed }: Pick<CheckContext, 'platform' | 'isClosed'>,
  work: () => Promise<Result>,
  makeRoom?: () => Promise<void>,
): Promise<Result> {
  for (;;) {
    if (isClosed()) throw new LeftToNext();
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      platform.log.warn({ error: messageOf(error) }, 'failed to store the state of a check; will retry');
    }
    await makeRoom?.();
    await delay(checkLimits.retryMs);
  }
}

/** Updates a check, and returns it. An ended check stays as it is. */
export async function note(context: CheckContext, check: Check, patchAt: (now: number) => CheckPatch): Promise<Check> {
  const write = async (tx: WriteTransaction) => {
    const patch = patchAt(tx.now);
    return (await updateCheck(tx, check.id, patch)) ? patch : null;
  };
  const patch = await untilThereIsRoom(context, () => context.platform.store.write(write));
  if (patch === null) throw new LeftToNext();
  return { ...check, ...patch };
}
