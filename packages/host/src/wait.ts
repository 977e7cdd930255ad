import { setTimeout as pause } from 'node:timers/promises';
import { hostLimits } from './host-limit.ts';

/** A monotonic clock in milliseconds, independent of the system time. */
export type MonotonicClock = () => number;

export const monotonicClock: MonotonicClock = () => performance.now();

/** Delays with backoff, for polling something without an event. */
export function createPauses(): () => Promise<void> {
  let pauseMs: number = hostLimits.lookAgainMinMs;
  return async () => {
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, hostLimits.lookAgainMaxMs);
  };
}
